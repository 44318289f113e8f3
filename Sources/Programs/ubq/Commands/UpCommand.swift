import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText

struct UpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Make this machine the home of your data, and keep it up to date.",
        discussion: """
            Starts kvsd and usage-push as services of your user, joins this machine, and prints one line for the \
            next machine and one QR code for a phone, both valid once and for ten minutes. Run again, it says what \
            runs and prints new ones.

            Where nothing manages services (systemd, launchd), both are started in the background, until the \
            machine restarts.

            EXAMPLES
              ubq up
              ubq up --yes        without questions, as in a script
              ubq up --dry-run
            """)

    @Option(help: "Port of the daemon; 8722 by default.") var port: Int?
    @Flag(help: "Leave Claude Code's status line alone.") var noStatusLine = false
    @Flag(help: "Print neither line nor QR code.") var noCodes = false
    @OptionGroup var options: ConfirmationOptions

    func validate() throws {
        // With 0 it would be another one after each start, and no device would find it.
        if let port, !(1...65_535).contains(port) { throw ValidationError("--port is a number from 1 to 65535") }
    }

    func run() throws {
        let lock = try options.lockMachine()
        defer { lock?.unlock() }
        let state = try MachineState.current()
        let plan = UpPlan(state, port: port, capturesStatusLine: !noStatusLine)
        if let obstacle = plan.obstacle { throw CommandFailure(.configuration, obstacle) }
        let isDone = try StepRunner(options: options, repetition: { _, _ in "ubq up" })
            .run(plan.steps, facts: plan.facts, verb: "set this machine up")
        guard isDone else { return }
        if !state.hasServiceManager, !plan.steps.isEmpty {
            Console.note(
                "It runs until the machine restarts. To start it then, add this line with crontab -e:\n"
                    + "  @reboot \(ProgramLocation.current(name: "ubq").path) up --yes --no-codes"
                    + (port.map { " --port \($0)" } ?? ""))
        }
        if !noCodes { try PairingCodes(canWrite: false).print() }
    }
}

/// The line and the QR code with which others join, once.
struct PairingCodes {
    let canWrite: Bool

    func print() throws {
        try Console.print("\nOn the next machine, once and within ten minutes:\n")
        try Console.print("  ubq join '\(try Self.line())'\n")
        try Console.print("or from here, for a machine that you reach with SSH:  ubq add HOST\n")
        try Console.print("On a phone, \(Console.isOutputTerminal ? "scan this, or " : "")open the address:\n")
        try Console.printScannable(try Self.page(options: []))
    }

    /// The line for another machine.
    ///
    /// - Parameter url: at which that one reaches the daemon here; nil for the address that the daemon knows.
    static func line(url: String? = nil) throws -> String {
        guard let url else { return try pair([]) }
        return try pair(["--url", url], with: .daemon)
    }

    /// The address for a browser.
    static func page(options: [String]) throws -> String { try pair(["--page"] + options) }

    /// The daemon here, or else, as an administrator, the one that this machine has joined.
    private static var program: Sibling {
        get throws {
            if try Sibling.daemon.report(DaemonReport.self, ["status", "--json"]) != nil { return .daemon }
            let account = try Sibling.kvs.report(AccountReport.self, ["status", "--json", "--no-sync"])
            guard account?.isOwn != true else {
                throw CommandFailure(.unavailable, "kvsd does not run here, at the home of your data; run ubq up")
            }
            guard account?.joined == true else {
                throw CommandFailure(.configuration, "no account has been joined: " + AccountReport.joining)
            }
            return .kvs
        }
    }

    private static func pair(_ options: [String], with program: Sibling? = nil) throws -> String {
        let outcome = try (program ?? Self.program).capture(["pair"] + options)
        let line = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first.map(String.init)
        guard outcome.status == 0, let line else {
            throw CommandFailure(ExitStatus(rawValue: outcome.status) ?? .unavailable, outcome.message)
        }
        for note in outcome.message.split(separator: "\n") where !note.hasPrefix("Valid once") {
            Console.note(VisibleText.escape(String(note)))
        }
        return line
    }
}
