import Synchronization

/// A value that one task waits for, and of which the first counts.
final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value, Never>)
        case known(Value)
    }

    private let state = Mutex(State.pending)

    func finish(_ value: Value) {
        let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .known: return nil
            case .pending:
                state = .known(value)
                return nil
            case .awaited(let continuation):
                state = .known(value)
                return continuation
            }
        }
        continuation?.resume(returning: value)
    }

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known: Value? = state.withLock { state in
                    if case .known(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }
}
