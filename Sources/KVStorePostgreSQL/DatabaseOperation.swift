import KVStoreCore
import KVStoreServer
import KVStoreWire
import NIOCore

/// A request to a store that waits for the database. Unchecked because its completion is called on its event loop.
struct DatabaseOperation: @unchecked Sendable {
    typealias Completion<Value> = (Result<Value, Problem>) -> Void

    enum Request {
        case sync(SyncRequest, mayCreate: Bool, Completion<SyncResponse>)
        case write(Record.Content, StoreKey, ReplicaID, Completion<SequencedRecord>)
        case value(StoreKey, Completion<SequencedRecord?>)
        case values(where: (StoreKey) -> Bool, Completion<[SequencedRecord]?>)
        case end(Completion<Cursor>)
        case remove(Completion<Void>)
        /// For live readers, which are woken.
        case refresh
    }

    let request: Request
    /// The index of its event loop.
    let loop: Int
    let deadline: NIODeadline
    /// Whether a commit of it was sent whose outcome is unknown.
    var isUncertain = false
    /// What a write became when it was first planned: a repetition has the same stamp.
    var record: Record?
    /// Whether it is committed without others, one of which was refused.
    var isAlone = false

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
        case .write(let content, _, _, _): !content.isTombstone
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

    /// Bytes that it may send to the database.
    var byteCount: Int {
        switch request {
        case .sync(let message, _, _): message.changes.reduce(0) { $0 + $1.content.byteCount + 64 }
        case .write(let content, _, _, _): content.byteCount + 64
        default: 0
        }
    }

    /// What to run on the event loop.
    func failing(with problem: Problem) -> () -> Void {
        switch request {
        case .sync(_, _, let complete): { complete(.failure(problem)) }
        case .write(_, _, _, let complete): { complete(.failure(problem)) }
        case .value(_, let complete): { complete(.failure(problem)) }
        case .values(_, let complete): { complete(.failure(problem)) }
        case .end(let complete): { complete(.failure(problem)) }
        case .remove(let complete): { complete(.failure(problem)) }
        case .refresh: {}
        }
    }

    /// What to run when it has waited long enough.
    var expired: () -> Void { failing(with: isUncertain ? .outcomeUnknown : .databaseUnavailable) }

    /// What to run if there is no store, and none is created.
    var withoutStore: () -> Void {
        switch request {
        case .value(_, let complete): { complete(.success(nil)) }
        case .values(_, let complete): { complete(.success(nil)) }
        case .write: failing(with: .unknownKey)
        case .remove(let complete) where isUncertain: { complete(.success(())) }
        default: failing(with: .unknownStore)
        }
    }
}
