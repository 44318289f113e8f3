import ArgumentParser
import Commands
import Essentials
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

    @Argument(help: "The line, or - to read it from standard input.") var line: String
    @Option(help: "Name of this machine; by default its host name.") var name: String?
    @Flag(help: "Show the other machines' limits, and push none.") var viewOnly = false
    @Flag(help: "Leave Claude Code's status line alone.") var noStatusLine = false
    @Flag(help: "End without showing the bars.") var noBars = false
    @OptionGroup var options: ConfirmationOptions

    func run() throws {
        var line = line
        if line == "-" {
            guard options.yes || options.dryRun else {
                throw CommandFailure(.usage, "the line is read from standard input, so nobody can be asked; add --yes")
            }
            line = String(decoding: try InputOutput.readInput(byteCount: 4_096), as: UTF8.self).trimmed()
        }
        let lock = try options.lockMachine()
        defer { lock?.unlock() }
        let plan = UpPlan.join(
            try MachineState.current(), line: line, name: name, isViewer: viewOnly, capturesStatusLine: !noStatusLine)
        let isDone = try StepRunner(options: options, repetition: "ubq join LINE, with a new line of 'ubq up'")
            .run(plan.steps, facts: plan.facts, verb: "join")
        guard isDone, !noBars else { return }
        try Console.print("")
        let status = try Sibling.view.run([])
        if status != 0 { throw ExitCode(status) }
    }
}
