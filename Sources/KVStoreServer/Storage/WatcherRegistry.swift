import KVStoreCore
import Synchronization

/// Why a live stream looks for something to send.
enum StreamSignal: Sendable {
    case changes, heartbeat
}

/// The live streams of each store. A stream has a cursor, not a queue: a signal only makes it look,
/// so any number of signals is one, and a slow reader costs no memory.
final class WatcherRegistry: Sendable {
    struct Watcher: Sendable {
        let id: UInt64
        let store: StoreID
        let signals: AsyncStream<StreamSignal>
        let continuation: AsyncStream<StreamSignal>.Continuation
    }

    private struct State {
        var watchers: [UInt64: Watcher] = [:]
        var byStore: [StoreID: Set<UInt64>] = [:]
        var lastID: UInt64 = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.watchers.count } }

    /// A new watcher; its signals have already ended when the server is stopping.
    func add(_ store: StoreID) -> Watcher {
        let (signals, continuation) = AsyncStream.makeStream(
            of: StreamSignal.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            state.lastID += 1
            let watcher = Watcher(
                id: state.lastID, store: store, signals: signals, continuation: continuation)
            if state.isFinished {
                continuation.finish()
            } else {
                state.watchers[watcher.id] = watcher
                state.byStore[store, default: []].insert(watcher.id)
            }
            return watcher
        }
    }

    func remove(_ watcher: Watcher) {
        watcher.continuation.finish()
        state.withLock { state in
            state.watchers[watcher.id] = nil
            state.byStore[watcher.store]?.remove(watcher.id)
            if state.byStore[watcher.store]?.isEmpty == true { state.byStore[watcher.store] = nil }
        }
    }

    func wake(_ stores: Set<StoreID>) {
        let found = state.withLock { state in
            stores.flatMap { state.byStore[$0] ?? [] }.compactMap { state.watchers[$0] }
        }
        for watcher in found { watcher.continuation.yield(.changes) }
    }

    func wakeAll() {
        for watcher in state.withLock({ $0.watchers.values }) {
            watcher.continuation.yield(.changes)
        }
    }

    /// Ends every live stream, now and from now on.
    func finish() {
        let all = state.withLock { state in
            state.isFinished = true
            state.byStore = [:]
            defer { state.watchers = [:] }
            return state.watchers.values
        }
        for watcher in all { watcher.continuation.finish() }
    }
}
