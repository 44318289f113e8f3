import Essentials
import ArgumentParser
import Commands
import LocalFiles
import TerminalText
import UsagePusher

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Capture the limits that Claude Code passes to its status line.",
        discussion: """
            Finds Claude Code and Codex, shows what it would change in which file, and asks before \
            each change.

            Claude Code passes its exact limits only to a status line. Setup puts \
            'usage-push claude-statusline --' in front of your own status line command in \
            settings.json, or adds a status line that prints nothing. Your command runs as before. \
            All other bytes of the file stay; the former file is kept beside it as \
            settings.json.before-usage-push. Codex needs no setup.

            Setup also offers homes that it finds by their names, such as ~/.claude-work, and \
            stores those that you accept; see 'usage-push config'.

            A status line in a project's settings or in managed ones replaces yours, and with it the \
            capture: setup names such a file, and leaves it alone.

            Without a terminal and without --yes nothing is changed.

            EXAMPLES
              usage-push setup             show, ask, change
              usage-push setup --yes       change without asking
              usage-push setup --undo      restore your own status line
              usage-push setup --json      print what would be changed

            EXIT STATUS
              0 all is set up, or shown · 65 a file is not valid; it is left alone
              74 a file cannot be read or written
            """)

    @Flag(help: "Restore your own status line.")
    var undo = false

    @Flag(name: .shortAndLong, help: "Answer yes to every question.")
    var yes = false

    @Flag(help: "Print what would be changed as JSON; with --yes, what was changed.")
    var json = false

    func run() throws {
        let file = PusherConfigurationFile()
        var (configuration, issues) = try file.readReportingFailure()
        for issue in issues { Console.report(issue) }
        var environment = ReadingOptions.ownEnvironment
        environment.additionalHomes = configuration.homes
        let messages = SetupMessages(home: environment.home, isUndo: undo)
        let dialogue = SettingsDialogue(home: environment.home, answersYes: yes, isSilent: json)

        var plan = plan(environment)
        let homes = undo ? [] : plan.homes.unread.filter { dialogue.isAccepted(messages.question($0)) }
        if !homes.isEmpty {
            try file.change { present in
                for home in homes { _ = present.add(home) }
                configuration = present
                return true
            }
            environment.additionalHomes = configuration.homes
            plan = self.plan(environment)
        }
        if !json { for line in messages.homes(plan) { try Console.print(line) } }
        let (applied, failed) = try dialogue.apply(plan.changes)
        let failures = plan.failures + failed
        if json {
            let report = SetupReport(plan, applied: applied, failures: failures, isUndo: undo)
            try Console.printJSON(report, isIndented: true)
        } else {
            let end = messages.end(plan, isChanged: !applied.isEmpty, canAsk: dialogue.canAsk)
            for line in end + messages.statuslineOverride(plan) { try Console.print(line) }
        }
        try SettingsDialogue.report(failures)
    }

    private func plan(_ environment: SourceEnvironment) -> SetupPlan {
        undo
            ? .undo(environment)
            : .setUp(
                environment, program: ProgramLocation.current(name: "usage-push").command,
                directory: FileManager.default.currentDirectoryPath)
    }
}

extension PusherConfigurationFile {
    /// Runs `body`, which reads and writes the file, while no other process does.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        try withExtendedLifetime(CommandFailure.ending(.cannotCreate, lock), body)
    }

    func readReportingFailure() throws(CommandFailure) -> (configuration: PusherConfiguration, issues: [String]) {
        try CommandFailure.ending(.configuration, read)
    }

    /// Writes what `body` has changed, and returns true, unless that returns false.
    @discardableResult
    func change(_ body: (inout PusherConfiguration) throws -> Bool) throws -> Bool {
        try locked {
            var (configuration, _) = try readReportingFailure()
            guard try body(&configuration) else { return false }
            try CommandFailure.ending(.cannotCreate) { () throws(FileError) in try write(configuration) }
            return true
        }
    }
}
