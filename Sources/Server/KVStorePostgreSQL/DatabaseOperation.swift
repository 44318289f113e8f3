import KVStoreCore
import KVStoreServer
import KVStoreWire
import NIOCore

/// Under which the answer to a group is kept, for a node that has not received it. A connection has one group at a time
/// at a place.
struct AnswerPlace: Hashable, Sendable {
    var node: Int64
    var connection: Int64
    var place: Int32
    var number: Int64
}

/// A request to a store that waits for the database. Unchecked because its completion is called on its event loop.
struct DatabaseOperation: @unchecked Sendable {
    enum Request {
        case sync(SyncRequest, mayCreate: Bool, Completion<SyncResponse>)
        case write(StoreRecord.Content, StoreKey, Precondition, ReplicaID, Completion<SequencedRecord>)
        case value(StoreKey, Completion<SequencedRecord?>)
        case values(where: (StoreKey) -> Bool, Completion<[SequencedRecord]?>)
        case end(Completion<SyncCursor>)
        case remove(Completion<Void>)
        /// For live readers, which are woken.
        case refresh
    }

    let request: Request
    /// The index of its event loop.
    let loop: Int
    let deadline: NIODeadline
    /// The commits of it that were sent, and whose answers were lost.
    var attempts: [Attempt] = []
    /// The one of them that was committed, as far as it has been read.
    var committed: Attempt?
    /// Whether it is committed without others, one of which was refused.
    var isAlone = false

    /// A commit whose answer the database keeps.
    struct Attempt {
        let place: AnswerPlace
        /// The place of the store in its group.
        let ordinal: Int
        /// If it was committed.
        let outcome: StorePlan.Outcome
    }

    init(_ request: Request, loop: Int, deadline: NIODeadline) {
        self.request = request
        self.loop = loop
        self.deadline = deadline
    }

    static var refresh: DatabaseOperation {
        DatabaseOperation(.refresh, loop: 0, deadline: .distantFuture)
    }

    /// Whether it creates a store that does not exist.
    var creates: Bool {
        switch request {
        case .sync(_, let mayCreate, _): mayCreate
        case .write(let content, _, _, _, _): !content.isTombstone
        default: false
        }
    }

    var isRemoval: Bool {
        if case .remove = request { return true }
        return false
    }

    var isRefresh: Bool {
        if case .refresh = request { return true }
        return false
    }

    /// Whether it needs no commit.
    var isRead: Bool {
        switch request {
        case .sync(let message, _, _): message.changes.isEmpty
        case .write, .remove: false
        case .value, .values, .end, .refresh: true
        }
    }

    /// Whether a commit of it may have happened.
    var isUncertain: Bool { !attempts.isEmpty }

    /// Bytes that it may send to the database.
    var byteCount: Int {
        switch request {
        case .sync(let message, _, _): message.changes.reduce(0) { $0 + $1.content.byteCount + 64 }
        case .write(let content, _, _, _, _): content.byteCount + 64
        default: 0
        }
    }

    /// What to run on the event loop.
    func failing(with problem: Problem) -> () -> Void {
        switch request {
        case .sync(_, _, let complete): { complete(.failure(problem)) }
        case .write(_, _, _, _, let complete): { complete(.failure(problem)) }
        case .value(_, let complete): { complete(.failure(problem)) }
        case .values(_, let complete): { complete(.failure(problem)) }
        case .end(let complete): { complete(.failure(problem)) }
        case .remove(let complete): { complete(.failure(problem)) }
        case .refresh: {}
        }
    }

    /// What to run when it has waited long enough.
    ///
    /// - Parameter problem: if nothing of it was stored.
    func expired(_ problem: Problem) -> () -> Void {
        failing(with: isUncertain ? .outcomeUnknown : problem)
    }

    /// What to run if there is no store, and none is created.
    var withoutStore: () -> Void {
        switch request {
        case .value(_, let complete): { complete(.success(nil)) }
        case .values(_, let complete): { complete(.success(nil)) }
        case .write: failing(with: .unknownKey)
        case .remove(let complete) where committed != nil: { complete(.success(())) }
        default: failing(with: .unknownStore)
        }
    }
}
