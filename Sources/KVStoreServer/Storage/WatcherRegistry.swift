import KVStoreCore
import Synchronization

/// Why a live stream checks for something to send.
enum StreamSignal: Sendable {
    case changes, heartbeat
}

/// The signals of one live stream, which end with `continuation.finish()`.
///
/// A stream has a cursor, not a queue: signals only make it check and are coalesced, so a slow reader
/// costs no memory.
struct Watcher: Sendable {
    let signals: AsyncStream<StreamSignal>
    let continuation: AsyncStream<StreamSignal>.Continuation
}

/// The live streams of each store. Safe to call from any thread.
final class WatcherRegistry: Sendable {
    private typealias Continuation = AsyncStream<StreamSignal>.Continuation

    private struct State {
        var continuations: [StoreID: [UInt64: Continuation]] = [:]
        var lastID: UInt64 = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.continuations.values.reduce(0) { $0 + $1.count } } }

    /// A watcher, registered until its signals end. They have already ended when the server is
    /// stopping.
    func add(_ store: StoreID) -> Watcher {
        let (signals, continuation) = AsyncStream.makeStream(
            of: StreamSignal.self, bufferingPolicy: .bufferingNewest(1))
        let id: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.lastID += 1
            state.continuations[store, default: [:]][state.lastID] = continuation
            return state.lastID
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.remove(id, from: store) }
        } else {
            continuation.finish()
        }
        return Watcher(signals: signals, continuation: continuation)
    }

    private func remove(_ id: UInt64, from store: StoreID) {
        state.withLock { state in
            state.continuations[store]?[id] = nil
            if state.continuations[store]?.isEmpty == true { state.continuations[store] = nil }
        }
    }

    func wake(_ stores: Set<StoreID>) {
        let found = state.withLock { state in
            stores.flatMap { state.continuations[$0]?.values.map(\.self) ?? [] }
        }
        for continuation in found { continuation.yield(.changes) }
    }

    func wakeAll() { wake(state.withLock { Set($0.continuations.keys) }) }

    /// Ends every live stream, now and from now on.
    func finish() {
        let all = state.withLock { state in
            state.isFinished = true
            return state.continuations.values.flatMap(\.values)
        }
        for continuation in all { continuation.finish() }
    }
}
