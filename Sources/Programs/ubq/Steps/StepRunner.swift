import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText

struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Answer yes to every question.") var yes = false
    @Flag(help: "Show what would be done, and do nothing.") var dryRun = false

    func validate() throws {
        if yes, dryRun { throw ValidationError("--yes cannot be combined with --dry-run") }
    }
}

extension ConfirmationOptions {
    /// The lock of those who change what runs on this machine, from their first look to their last step: two at once
    /// would each add a device. Waits a minute for another; nil for who only shows what would be done.
    func lockMachine() throws -> FileLock? {
        if dryRun { return nil }
        let directory = LocalDirectory(UserDirectories().state)
        try directory.create()
        let lock = try FileLock(directory.path + "/ubq.lock")
        if try lock.lockIfAvailable() { return lock }
        Console.note("another ubq is changing what runs on this machine; waiting for it")
        guard try waitUntil(seconds: 60, { try lock.lockIfAvailable() }) else {
            throw CommandFailure(.temporaryFailure, "another ubq has not ended yet; run this again when it has")
        }
        return lock
    }
}

/// Shows steps, asks, and takes them. A step that fails ends it; those before it stay, and the command is repeated.
struct StepRunner {
    let options: ConfirmationOptions
    /// The command with which to go on after a step that has failed with a status.
    let repetition: (Step, Int32) -> String

    /// Before that command.
    static let onward = "To go on from here: "

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
                let next = Self.onward + repetition(step, outcome.status)
                Console.report("\(step.program.rawValue): \(outcome.message)\n\(next)")
                throw ExitCode(outcome.status)
            }
        case .inBackground: try begin(step)
        case .endsBackground: try BackgroundProgram(step.program).stop()
        }
        guard step.waitsForDaemon, step.way == .toItsEnd else { return }
        guard try waitUntil({ try Self.daemonAnswers() }) else {
            throw CommandFailure(.unavailable, "kvsd does not answer; what it says: kvsd service status")
        }
    }

    /// Starts a program that stays, and waits until the daemon answers, or for another one as long as one that cannot
    /// work usually takes to end.
    private func begin(_ step: Step) throws {
        let program = BackgroundProgram(step.program)
        try program.start(step.arguments)
        let hasSettled = try waitUntil(seconds: step.waitsForDaemon ? 20 : 0.5) {
            try !program.isRunning || step.waitsForDaemon && Self.daemonAnswers()
        }
        if program.isRunning, hasSettled || !step.waitsForDaemon { return }
        throw CommandFailure(
            .unavailable,
            "\(step.program.rawValue) \(program.isRunning ? "does not answer" : "has ended"): "
                + (program.lastWords ?? "its messages are in \(program.log)"))
    }

    private static func daemonAnswers() throws -> Bool {
        try Sibling.daemon.report(DaemonReport.self, ["status", "--json"]) != nil
    }
}
