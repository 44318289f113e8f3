import Dispatch
import KVStoreCore
import Synchronization

/// Delivers changes to the notification center and to the change streams, in order, on a queue of its own.
final class ChangeDelivery: Sendable {
    private struct State {
        weak var source: UbiquitousKeyValueStore?
        var feeds: [WeakFeed] = []
        var connections: [UInt64: AsyncStream<StoreStatus.Connection>.Continuation] = [:]
        /// The state delivered last.
        var connection = StoreStatus.Connection.local
        var lastID: UInt64 = 0
        var isFinished = false
    }

    /// A feed lives as long as the stream that reads it.
    private struct WeakFeed {
        weak var feed: ChangeFeed?
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "ubiquity.notifications")

    func setSource(_ source: UbiquitousKeyValueStore) {
        state.withLock { $0.source = source }
    }

    /// Feeds that may still be read.
    var feedCount: Int { state.withLock { $0.feeds.count { $0.feed != nil } } }

    func addFeed() -> ChangeFeed {
        let feed = ChangeFeed()
        let isFinished = state.withLock { state in
            state.feeds.removeAll { $0.feed?.isFinished ?? true }
            if !state.isFinished { state.feeds.append(WeakFeed(feed: feed)) }
            return state.isFinished
        }
        if isFinished { feed.finish() }
        return feed
    }

    /// A stream of connection states, beginning with the present one; a slow reader gets only the newest.
    func connectionStream() -> AsyncStream<StoreStatus.Connection> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreStatus.Connection.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            queue.async { self.state.withLock { $0.connections[id] = nil } }
        }
        // On the queue that delivers states, so that none is missed between the first and the next.
        queue.async { [self] in
            let (first, isFinished) = state.withLock { state in
                if !state.isFinished { state.connections[id] = continuation }
                return (state.connection, state.isFinished)
            }
            continuation.yield(first)
            if isFinished { continuation.finish() }
        }
        return stream
    }

    /// Delivers a state that differs from the last one.
    func deliver(_ connection: StoreStatus.Connection) {
        queue.async { [self] in
            let streams = state.withLock { state in
                guard connection != state.connection else {
                    return [AsyncStream<StoreStatus.Connection>.Continuation]()
                }
                state.connection = connection
                return Array(state.connections.values)
            }
            for continuation in streams { continuation.yield(connection) }
        }
    }

    /// Never blocks, and never calls an observer on the calling thread.
    func deliver(_ change: StoreChange) {
        queue.async { [self] in
            let (source, feeds) = state.withLock { ($0.source, $0.feeds.compactMap(\.feed)) }
            for feed in feeds { feed.send(change) }
            (source as? any ChangePosting)?.post(change)
        }
    }

    /// Returns when everything so far has been delivered.
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
            return (state.feeds.compactMap(\.feed), Array(state.connections.values))
        }
        for feed in feeds { feed.finish() }
        for continuation in connections { continuation.finish() }
    }
}

/// Posts changes to the notification center. `UbiquitousKeyValueStore` conforms where `KVStore` is linked, which unlike
/// this target imports all of Foundation.
package protocol ChangePosting {
    func post(_ change: StoreChange)
}
