import Dispatch
import Foundation
import Synchronization

/// Tells changes to the notification centre and to the streams, in order and on a queue of its own.
final class Announcements: Sendable {
    private struct State {
        weak var source: UbiquitousKeyValueStore?
        var feeds: [WeakFeed] = []
        var connections: [UInt64: AsyncStream<StoreStatus.Connection>.Continuation] = [:]
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

    /// Feeds that somebody may still read.
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

    /// A stream of connection states; a slow reader gets only the newest.
    func connectionStream(
        from first: StoreStatus.Connection
    ) -> AsyncStream<StoreStatus.Connection> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreStatus.Connection.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(first)
        let id = state.withLock { state -> UInt64? in
            guard !state.isFinished else { return nil }
            state.lastID += 1
            state.connections[state.lastID] = continuation
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.connections[id] = nil }
        }
        return stream
    }

    func announce(_ connection: StoreStatus.Connection) {
        queue.async { [self] in
            for continuation in state.withLock({ Array($0.connections.values) }) {
                continuation.yield(connection)
            }
        }
    }

    /// Never blocks and never calls an observer on the caller's thread.
    func announce(_ change: StoreChange) {
        queue.async { [self] in
            let (source, feeds) = state.withLock { ($0.source, $0.feeds.compactMap(\.feed)) }
            for feed in feeds { feed.send(change) }
            guard let source else { return }
            NotificationCenter.default.post(
                name: UbiquitousKeyValueStore.didChangeExternallyNotification, object: source,
                userInfo: [
                    UbiquitousKeyValueStore.changeReasonKey: change.reason.rawValue,
                    UbiquitousKeyValueStore.changedKeysKey: change.keys,
                ])
        }
    }

    /// Returns when everything announced so far has been told.
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
