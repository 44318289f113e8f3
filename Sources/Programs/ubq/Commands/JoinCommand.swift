import ArgumentParser
import Commands
import Essentials
import KVStoreWire
import LocalFiles

struct JoinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Join this machine with the line that 'ubq up' prints, and show the bars.",
        discussion: """
            Joins, pushes this machine's limits as a service if an AI coding tool is here, and shows the bars of all \
            machines. Joining again the same daemon replaces the device that this machine was.

            EXAMPLES
              ubq join 'ubiquity://…'
              ubq join 'ubiquity://…' --view-only
              ubq join - < line             other users of this machine cannot see it
            """)

    @Argument(help: "The line, also with the words around it, or - to read it from standard input.")
    var line: [String]
    @Option(help: "Name of this machine; by default its host name.") var name: String?
    @Flag(help: "Show the other machines' limits, and push none.") var viewOnly = false
    @Flag(help: "Leave Claude Code's status line alone.") var noStatusLine = false
    @Flag(help: "End without showing the bars.") var noBars = false
    @OptionGroup var options: ConfirmationOptions

    func run() throws {
        var text = line.joined(separator: " ")
        if text == "-" {
            guard options.yes || options.dryRun else {
                throw CommandFailure(.usage, "the line is read from standard input, so nobody can be asked; add --yes")
            }
            text = String(decoding: try InputOutput.readInput(byteCount: 4_096), as: UTF8.self)
        }
        let line = try Self.parsed(text)
        let lock = try options.lockMachine()
        defer { lock?.unlock() }
        let plan = UpPlan.join(
            try MachineState.current(), line: line, name: name, isViewer: viewOnly, capturesStatusLine: !noStatusLine)
        let isDone = try StepRunner(options: options, repetition: Self.repetition)
            .run(plan.steps, facts: plan.facts, verb: "join")
        guard isDone, !noBars else { return }
        try Console.print("")
        let status = try Sibling.view.run([])
        if status != 0 { throw ExitCode(status) }
    }

    /// - Throws: what was pasted instead of a line, and where one is from.
    static func parsed(_ text: String) throws(CommandFailure) -> PairingLine {
        guard let candidate = PairingLine.candidate(in: text) else {
            let given =
                if text.trimmed().isEmpty {
                    "nothing was given"
                } else if text.contains("/#") {
                    "this is the address for a phone or browser"
                } else {
                    text.contains("://") ? "this is an address without a code" : "this is no line"
                }
            throw CommandFailure(
                .usage,
                "\(given); a machine joins with the line that ubq up prints at the home of your data, which "
                    + "begins with ubiquity://")
        }
        guard let line = PairingLine(candidate) else { throw CommandFailure(.usage, PairingLine.incomplete) }
        return line
    }

    /// A code that was refused is worth nothing any more; one that was not looked at is.
    static func repetition(after step: Step, _ status: Int32) -> String {
        guard step.program == .kvs else { return "ubq doctor --fix, as this machine has joined" }
        return status == ExitStatus.noPermission.rawValue
            ? "ubq join LINE, with a new line" : "ubq join with the same line, within its ten minutes"
    }
}
