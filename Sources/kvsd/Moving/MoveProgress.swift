import CommandSupport
import Dispatch
import Essentials
import Synchronization

/// Shows on a terminal how far a move has come.
struct MoveProgress: Sendable {
    func note(_ count: Int, _ total: Int) {
        guard Console.isErrorTerminal else { return }
        Console.note("\r\(count) of \(total) stores", terminator: count == total ? "\n" : "")
    }

    func noteFollowing(_ count: Int, _ time: Duration) {
        guard Console.isErrorTerminal else { return }
        Console.note("copied \(count) stores that have changed since, in \(time.text)")
    }
}

/// Ends the command at a signal while nothing has moved, and does nothing once the last step has begun.
final class MoveInterruption: Sendable {
    private let isLastStep = Mutex(false)

    func beginLastStep() { isLastStep.withLock { $0 = true } }

    func signalArrived() {
        isLastStep.withLock { isLastStep in
            guard !isLastStep else { return }
            Console.report("nothing has moved; run the command again to continue")
            _exit(ExitStatus.temporaryFailure.rawValue)
        }
    }
}

extension Duration {
    var text: String {
        let hundredths = Int((self / .milliseconds(10)).rounded())
        return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) s"
    }
}

/// Runs what blocks beside the tasks.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
