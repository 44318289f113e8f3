import KVStoreCore
import Synchronization

/// Changes for one reader; tasks that share it divide them. Unread changes are kept as one set of keys per reason, so
/// they never outgrow the number of keys.
final class ChangeFeed: Sendable {
    private struct State {
        var keys: [StoreChangeReason: [String]] = [:]
        var known: [StoreChangeReason: Set<StoreKey>] = [:]
        var order: [StoreChangeReason] = []
        /// Tasks that wait for a change; each gets another one.
        var readers: [CheckedContinuation<StoreChange?, Never>] = []
        var isFinished = false

        mutating func takeFirst() -> StoreChange? {
            guard !order.isEmpty else { return nil }
            let reason = order.removeFirst()
            known[reason] = nil
            return StoreChange(reason: reason, keys: keys.removeValue(forKey: reason) ?? [])
        }
    }

    private let state = Mutex(State())

    func send(_ change: StoreChange) {
        let (reader, first) = state.withLock { state in
            guard !state.isFinished else {
                return (nil as CheckedContinuation<StoreChange?, Never>?, nil as StoreChange?)
            }
            // An account change may have no keys.
            if !state.order.contains(change.reason) { state.order.append(change.reason) }
            for key in change.keys where state.known[change.reason, default: []].insert(StoreKey(key)).inserted {
                state.keys[change.reason, default: []].append(key)
            }
            guard !state.readers.isEmpty else { return (nil, nil) }
            return (state.readers.removeFirst(), state.takeFirst())
        }
        reader?.resume(returning: first)
    }

    /// Whether there are no unread changes.
    var isRead: Bool { state.withLock { $0.order.isEmpty } }

    var isFinished: Bool { state.withLock { $0.isFinished } }

    func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resume(returning: nil) }
    }

    /// The next change; nil after the end and when the reader's task is cancelled.
    func next() async -> StoreChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready: StoreChange?? = state.withLock { state in
                    if let change = state.takeFirst() { return change }
                    if state.isFinished || Task.isCancelled { return .some(nil) }
                    state.readers.append(continuation)
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            finish()
        }
    }
}
