import Synchronization

/// A value that arrives once and that one task waits for.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value?, Never>)
        case full(Value?)
    }

    private let state = Mutex(State.empty)

    /// Supplies the value; later ones are ignored.
    func fulfill(_ value: Value) { finish(value) }

    /// The value; nil once the calling task is cancelled.
    func value() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let arrived: Value?? = state.withLock { state in
                    if case .full(let value) = state { return .some(value) }
                    state = .waiting(continuation)
                    return .none
                }
                if let arrived { continuation.resume(returning: arrived) }
            }
        } onCancel: {
            finish(nil)
        }
    }

    private func finish(_ value: Value?) {
        let continuation: CheckedContinuation<Value?, Never>? = state.withLock { state in
            switch state {
            case .empty: state = .full(value)
            case .waiting(let continuation):
                state = .full(value)
                return continuation
            case .full: break
            }
            return nil
        }
        continuation?.resume(returning: value)
    }
}
