import Dispatch
import KVStoreCore
import Synchronization

/// Delivers changes to the change streams at once, and to observers in order on a queue of its own.
///
/// An observer may block for as long as it likes: streams and other stores do not wait for it. The observers of one
/// store wait for each other, as a notification center calls them one after the other.
final class ChangeDelivery: Sendable {
    private struct State {
        var objects: [Weak<UbiquitousKeyValueStore>] = []
        var feeds: [Weak<ChangeFeed>] = []
        var connections: [UInt64: AsyncStream<StoreStatus.Connection>.Continuation] = [:]
        /// The state delivered last.
        var connection = StoreStatus.Connection.local
        /// Whether that is still the state of a former account.
        var isAccountNew = false
        /// What observers have not been notified of yet, oldest first.
        var announcements: [StoreAnnouncement] = []
        var lastID: UInt64 = 0
        var isFinished = false

        mutating func add(_ change: StoreChange, mergingBeyond limit: Int) {
            guard announcements.count >= limit, case .change(var last)? = announcements.last,
                last.reason == change.reason
            else { return announcements.append(.change(change)) }
            var known = Set(last.keys.map { StoreKey($0) })
            last.keys += change.keys.filter { known.insert(StoreKey($0)).inserted }
            announcements[announcements.count - 1] = .change(last)
        }
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "ubiquity.notifications")
    private let post: StoreRuntime.Posting

    /// While this many notifications wait for a slow observer, further ones are merged into them.
    private static let waitingCount = 256

    init(post: @escaping StoreRuntime.Posting) { self.post = post }

    /// Makes the object one that notifications come from.
    func attach(_ object: UbiquitousKeyValueStore) {
        state.withLock { state in
            state.objects.removeAll { $0.object == nil }
            state.objects.append(Weak(object: object))
        }
    }

    func detach(_ object: UbiquitousKeyValueStore) {
        state.withLock { $0.objects.removeAll { $0.object === object } }
    }

    /// Feeds that may still be read.
    var feedCount: Int { state.withLock { $0.feeds.count { $0.object != nil } } }

    /// A feed lives as long as the stream that reads it.
    func addFeed() -> ChangeFeed {
        let feed = ChangeFeed()
        let isFinished = state.withLock { state in
            state.feeds.removeAll { $0.object?.isFinished ?? true }
            if !state.isFinished { state.feeds.append(Weak(object: feed)) }
            return state.isFinished
        }
        if isFinished { feed.finish() }
        return feed
    }

    /// A stream of connection states, beginning with the present one; a slow reader gets only the newest.
    func connectionStream() -> AsyncStream<StoreStatus.Connection> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreStatus.Connection.self, bufferingPolicy: .bufferingNewest(1))
        let (id, isFinished) = state.withLock { state in
            state.lastID += 1
            continuation.yield(state.connection)
            if !state.isFinished { state.connections[state.lastID] = continuation }
            return (state.lastID, state.isFinished)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.connections[id] = nil }
        }
        if isFinished { continuation.finish() }
        return stream
    }

    /// Delivers a state that differs from the last one, or is the first of an account.
    func deliver(_ connection: StoreStatus.Connection) {
        state.withLock { state in
            guard connection != state.connection || state.isAccountNew else { return }
            state.connection = connection
            state.isAccountNew = false
            for continuation in state.connections.values { continuation.yield(connection) }
        }
    }

    /// Never blocks, and never calls an observer on the calling thread.
    func deliver(_ change: StoreChange) {
        let feeds = state.withLock { state in
            state.add(change, mergingBeyond: Self.waitingCount)
            return state.feeds.compactMap(\.object)
        }
        for feed in feeds { feed.send(change) }
        queue.async { [self] in postNext() }
    }

    /// What follows is of another account.
    func beginAccount() { state.withLock { $0.isAccountNew = true } }

    /// Announces that the store is another account's.
    func deliverIdentityChange() {
        state.withLock { $0.announcements.append(.identityChange) }
        queue.async { [self] in postNext() }
    }

    private func postNext() {
        let (objects, announcement) = state.withLock { state in
            (state.objects.compactMap(\.object), state.announcements.isEmpty ? nil : state.announcements.removeFirst())
        }
        if let announcement { post(announcement, objects) }
    }

    /// Returns when observers have been called with everything so far.
    func drain() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }

    func finish() {
        let (feeds, connections) = state.withLock { state in
            state.isFinished = true
            defer {
                state.feeds = []
                state.connections = [:]
            }
            return (state.feeds.compactMap(\.object), Array(state.connections.values))
        }
        for feed in feeds { feed.finish() }
        for continuation in connections { continuation.finish() }
    }
}

/// What observers are notified of.
package enum StoreAnnouncement: Sendable, Equatable {
    case change(StoreChange)
    /// The store is another account's.
    case identityChange
}

/// Posts to the notification center. `UbiquitousKeyValueStore` conforms where `KVStore` is linked, which unlike
/// this target imports all of Foundation.
package protocol ChangePosting {
    func post(_ announcement: StoreAnnouncement)
}
