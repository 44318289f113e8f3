import ArgumentParser
import Commands
import Essentials
import TerminalText

struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Answer yes to every question.") var yes = false
    @Flag(help: "Show what would be done, and do nothing.") var dryRun = false

    func validate() throws {
        if yes, dryRun { throw ValidationError("--yes cannot be combined with --dry-run") }
    }
}

/// Shows steps, asks, and takes them. A step that fails ends it; those before it stay, and the command is repeated.
struct StepRunner {
    let options: ConfirmationOptions
    /// The command to repeat after a failure.
    let repetition: String

    /// - Returns: whether all is done.
    func run(_ steps: [Step], facts: [String], verb: String) throws -> Bool {
        for fact in facts { try Console.print("✓ " + VisibleText.escape(fact)) }
        let common = steps.filter { $0.question == nil }
        for step in common {
            try Console.print("• " + VisibleText.escape(step.text))
            if let command = step.command { try Console.print("    " + VisibleText.escape(command)) }
        }
        if options.dryRun {
            for step in steps where step.question != nil { try Console.print("• " + VisibleText.escape(step.text)) }
            return false
        }
        if !common.isEmpty, !options.yes, try !Console.confirm(verb: verb) { return false }
        if !common.isEmpty { try Console.print("") }
        for step in steps {
            if let question = step.question, !options.yes {
                guard Console.isInputTerminal, Console.confirm(VisibleText.escape(question)) else { continue }
            }
            try take(step)
            try Console.print("✓ " + VisibleText.escape(step.text))
        }
        return true
    }

    private func take(_ step: Step) throws {
        switch step.way {
        case .toItsEnd:
            let outcome = try step.program.capture(step.arguments, input: step.input)
            guard step.accepted.contains(outcome.status) else {
                Console.report("\(step.program.rawValue): \(outcome.message)\nTo go on from here: \(repetition)")
                throw ExitCode(outcome.status)
            }
        case .inBackground: try BackgroundProgram(step.program).start(step.arguments)
        case .endsBackground: try BackgroundProgram(step.program).stop()
        }
        guard step.waitsForDaemon else { return }
        let isRunning = try waitUntil {
            try Sibling.daemon.report(DaemonReport.self, ["status", "--json"]) != nil
        }
        guard !isRunning else { return }
        let words = step.way == .inBackground ? "cat \(BackgroundProgram(.daemon).log)" : "kvsd service status"
        throw CommandFailure(.unavailable, "kvsd does not answer; what it says: \(words)")
    }
}
