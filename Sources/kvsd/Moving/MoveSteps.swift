import Commands
import Dispatch
import Essentials
import Synchronization

/// Copies again what has changed meanwhile, until little is left, and shows that on a terminal.
///
/// - Parameter pass: returns how many stores had changed.
func copyChanges<Failure: Error>(_ pass: () throws(Failure) -> Int) throws(Failure) {
    var former = Duration.seconds(3_600)
    for number in 1... {
        let start = ContinuousClock.now
        let count = try pass()
        let time = start.duration(to: .now)
        if Console.isErrorTerminal {
            Console.note("copied \(count) stores that have changed since, in \(time.text)")
        }
        // Where changes come faster than they are copied, more passes would not help.
        if time < .milliseconds(100) || number > 3 && time > former * 0.7 { return }
        former = time
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
