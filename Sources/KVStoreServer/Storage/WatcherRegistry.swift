import KVStore
import Synchronization

/// What makes a live stream look around.
enum StreamSignal: Sendable {
    case news, beat
}

/// Who watches which store. A watcher holds a place in the store's order, not a queue: a signal
/// only says that it should look, so any number of signals is one, and a slow reader costs no
/// memory.
final class WatcherRegistry: Sendable {
    struct Watcher: Sendable {
        let id: UInt64
        let store: StoreID
        let signals: AsyncStream<StreamSignal>
        let continuation: AsyncStream<StreamSignal>.Continuation
    }

    private struct State {
        var watchers: [StoreID: [UInt64: AsyncStream<StreamSignal>.Continuation]] = [:]
        var lastID: UInt64 = 0
        var count = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    /// A new watcher, whose signals have ended already when the daemon is about to end.
    func add(_ store: StoreID) -> Watcher {
        let (signals, continuation) = AsyncStream.makeStream(
            of: StreamSignal.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            state.lastID += 1
            if state.isFinished {
                continuation.finish()
            } else {
                state.watchers[store, default: [:]][state.lastID] = continuation
                state.count += 1
            }
            return Watcher(
                id: state.lastID, store: store, signals: signals, continuation: continuation)
        }
    }

    func remove(_ watcher: Watcher) {
        watcher.continuation.finish()
        state.withLock { state in
            guard state.watchers[watcher.store]?.removeValue(forKey: watcher.id) != nil else {
                return
            }
            state.count -= 1
            if state.watchers[watcher.store]?.isEmpty == true {
                state.watchers[watcher.store] = nil
            }
        }
    }

    func wake(_ stores: Set<StoreID>) {
        let found = state.withLock { state in
            stores.flatMap { state.watchers[$0].map { Array($0.values) } ?? [] }
        }
        for continuation in found { continuation.yield(.news) }
    }

    func wakeAll() {
        let all = state.withLock { $0.watchers.values.flatMap(\.values) }
        for continuation in all { continuation.yield(.news) }
    }

    /// Ends every stream, now and from now on.
    func finish() {
        let all = state.withLock { state in
            state.isFinished = true
            state.count = 0
            defer { state.watchers = [:] }
            return state.watchers.values.flatMap(\.values)
        }
        for continuation in all { continuation.finish() }
    }
}
