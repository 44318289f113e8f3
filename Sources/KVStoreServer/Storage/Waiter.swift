import Synchronization

/// One value that one task waits for and that comes once; cancelling the task ends the wait at
/// once, and what comes later is dropped.
final class Waiter<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, StoreFault>

    private enum State {
        case new
        case waiting(CheckedContinuation<Outcome, Never>)
        case early(Outcome)
        case over
    }

    private let state = Mutex(State.new)

    func resume(_ outcome: Outcome) {
        let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .new: state = .early(outcome)
            case .waiting(let continuation):
                state = .over
                return continuation
            case .early, .over: break
            }
            return nil
        }
        continuation?.resume(returning: outcome)
    }

    func value() async throws(StoreFault) -> Value {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Outcome? = state.withLock { state in
                    if case .early(let outcome) = state {
                        state = .over
                        return outcome
                    }
                    state = .waiting(continuation)
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            resume(.failure(.outcomeUnknown))
        }
        return try outcome.get()
    }
}
