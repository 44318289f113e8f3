import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

extension GateCommand {
    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Add the gate to the hooks of the tools on this machine.",
            discussion: """
                Finds Claude Code, Codex, Gemini CLI, Qwen Code and GitHub Copilot CLI, shows what it would add \
                to which file, and asks before each change. All other bytes of a file stay; the former file is kept \
                beside it as …before-usage-gate. Where no rule is set yet, the model is notified at 90 % \
                and stopped at 98 %.

                Codex asks you to review new hooks: run /hooks in it.

                Without a terminal and without --yes nothing is changed.

                EXAMPLES
                  usage-view gate install                  after showing and asking
                  usage-view gate install --tool claude    only there
                  usage-view gate install --undo           without the hooks

                EXIT STATUS
                  0 all is installed, or shown · 65 a file is not valid; it is left alone
                  66 no such tool is on this machine · 74 a file cannot be read or written
                """)

        @Flag(help: "Remove the hooks.")
        var undo = false

        @Flag(name: .shortAndLong, help: "Answer yes to every question.")
        var yes = false

        @Flag(help: "Print what would be changed as JSON; with --yes, what was changed.")
        var json = false

        @Option(help: ArgumentHelp("Only this tool; may be repeated.", valueName: "id"))
        var tool: [GateTool] = []

        func run() throws {
            let (plan, failures) = try plan()
            let home = UserDirectories().home
            let dialogue = SettingsDialogue(home: home, answersYes: yes, isSilent: json)
            let (applied, failed) = try dialogue.apply(plan.map(\.change))
            let all = failures + failed
            let isDone = all.isEmpty && applied.count == plan.count
            if isDone || !applied.isEmpty { try writeDefaultRules() }
            let notes = isDone && !undo ? GateCommand.updateUsage(storeNamed: StoreOption.defaultName) : []
            if json {
                try Console.printJSON(
                    InstallReport(
                        changes: plan.compactMap { tool, change in
                            SettingsChangeReport(change, tool: tool, isApplied: applied.contains(change))
                        }, isComplete: isDone), isIndented: true)
            } else {
                for line in end(plan.map(\.tool), isChanged: !applied.isEmpty, hasFailed: !all.isEmpty, dialogue)
                    + notes
                {
                    try Console.print(line)
                }
            }
            try SettingsDialogue.report(all)
        }

        private func plan() throws -> (
            changes: [(tool: String, change: ToolSettingsFile.Change)], failures: [FileError]
        ) {
            var changes: [(String, ToolSettingsFile.Change)] = []
            var failures: [FileError] = []
            let files = HookFile.withHooks(includesUnread: undo).filter { file, _ in
                tool.isEmpty || tool.contains { $0.rawValue == file.tool }
            }
            if files.isEmpty, !undo {
                let tools = (tool.isEmpty ? GateTool.allCases : tool).map(\.title).joined(separator: ", ")
                throw CommandFailure(.noInput, "no tool that could ask the gate was found here; looked for: \(tools)")
            }
            for (file, hooks) in files {
                do throws(FileError) {
                    let change = try undo ? file.removal(hooks) : file.addition(hooks)
                    if let change { changes.append((file.tool, change)) }
                } catch {
                    failures.append(error)
                }
            }
            return (changes, failures)
        }

        /// Sets the rules that an installation starts with, and removes them with the last hooks.
        private func writeDefaultRules() throws {
            let files = GateFiles()
            let current = files.read(files.rules)
            try CommandFailure.ending(.cannotCreate) { () throws(FileError) in
                if undo {
                    let isUsed = HookFile.withHooks(includesUnread: true).contains { $0.contains($1) }
                    if !isUsed, current == GateRules.defaults.data { try files.rules.remove() }
                } else if current == nil {
                    try files.write(GateRules.defaults.data, to: files.rules)
                }
            }
        }

        private func end(
            _ tools: [String], isChanged: Bool, hasFailed: Bool, _ dialogue: SettingsDialogue
        ) -> [String] {
            if isChanged {
                if undo { return ["The hooks are removed."] }
                let review = tools.contains("codex") ? ["Codex asks you to review the hooks: run /hooks in it."] : []
                return review + ["usage-view gate status lists the rules. To undo this: usage-view gate install --undo"]
            }
            if !tools.isEmpty {
                let option = undo ? " --undo" : ""
                return [
                    dialogue.canAsk || yes
                        ? "Nothing was changed."
                        : "Nothing was changed. To do this: usage-view gate install\(option) --yes"
                ]
            }
            return hasFailed ? [] : [undo ? "Nothing to undo." : "Nothing left to install."]
        }
    }
}

/// Fields are added, never renamed or removed.
private struct InstallReport: Encodable {
    var schemaVersion = 1
    var changes: [SettingsChangeReport]
    /// Whether nothing is left to change.
    var isComplete: Bool
}

extension HookFile {
    /// False for a file that cannot be read: none of its hooks run.
    func contains(_ hooks: HookSettings) -> Bool { (try? removal(hooks)) ?? nil != nil }

    /// The files of the tools on this machine, and what belongs into them.
    static func withHooks(includesUnread: Bool) -> [(HookFile, HookSettings)] {
        var environment = SourceEnvironment(
            home: UserDirectories().home, variables: ProcessInfo.processInfo.environment)
        // A file of settings that cannot be read has no further homes.
        environment.additionalHomes = (try? PusherConfigurationFile().read().0.homes) ?? [:]
        let program = ProgramLocation.current(name: "usage-view").command
        return all(in: environment, includesUnread: includesUnread).compactMap { file in
            GateTool(rawValue: file.tool).map { (file, HookSettings($0, program: program)) }
        }
    }
}

extension HookSettings {
    /// Those of a tool that call this program.
    init(_ tool: GateTool, program: String) {
        let program = ShellWord.quoted(program)
        let mark = "gate hook \(tool.rawValue)"
        // These two refuse every call whose hook cannot be started.
        let refusesMissing = [.gemini, .copilot].contains(tool)
        let isInMilliseconds = [.gemini, .qwen].contains(tool)
        self.init(
            events: tool.events.map { Event($0.name, isOfTools: $0.event == .tool) },
            command: refusesMissing
                ? "command -v \(program) >/dev/null || exit 0; \(program) \(mark) 2>/dev/null || exit 0"
                : "\(program) \(mark)",
            mark: mark, timeout: Int(GateRule.maximumWaitLimit) * (isInMilliseconds ? 1_000 : 1))
        if tool == .copilot {
            names = ("bash", "timeoutSec")
            hasGroups = false
        }
    }
}

extension GateTool: ExpressibleByArgument {}
