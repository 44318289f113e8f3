import ArgumentParser
import Commands
import Essentials
import TerminalText
import UsagePusher

extension ConfigCommand {
    struct Ask: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ask", abstract: "Let --watch ask a tool itself for its limits.",
            discussion: """
                For machines on which the tool is idle: usage-push starts 'codex app-server', asks for the \
                limits and ends it. Codex uses its own login and the network. Nothing is asked \
                while the numbers of any of your machines are younger than --when-older; after failures \
                the pause doubles, up to 6 hours. This command again begins anew. 'usage-push sources' \
                shows the last question and the next one.
                """)

        @Argument(help: ArgumentHelp("codex.", valueName: "tool"), completion: .list([CodexAsking.id]))
        var tool: String

        @Option(
            help: ArgumentHelp("Ask at most once in this time, 1m to 1d; default 10m.", valueName: "duration"),
            transform: DurationArgument.seconds)
        var every: TimeInterval?

        @Option(
            help: ArgumentHelp("Ask only if the numbers are older, 1m to 1d; default 15m.", valueName: "duration"),
            transform: DurationArgument.seconds)
        var whenOlder: TimeInterval?

        @Flag(help: "No longer ask it, and forget what it has answered.")
        var off = false

        func validate() throws {
            guard tool == CodexAsking.id else { throw ValidationError(Self.refusal(of: tool)) }
            if off, every != nil || whenOlder != nil { throw ValidationError("--off cannot be combined.") }
            guard settings(program: "/") != nil else {
                throw ValidationError("--every and --when-older must be 1m to 1d.")
            }
        }

        func run() throws {
            let asking = CodexAsking(ReadingOptions.ownEnvironment)
            var settings: AskSettings?
            if !off {
                guard let program = SearchPath().path(of: CodexAsking.program) else {
                    throw CommandFailure(.noInput, "codex is not installed: no such program in PATH")
                }
                settings = self.settings(program: program)
                try asking.forget()
            }
            try PusherConfigurationFile().change { configuration in
                if off, configuration.asking[tool] == nil {
                    throw CommandFailure(.noInput, "\(tool) is not asked; run usage-push config show")
                }
                configuration.setAsking(tool, settings)
                return true
            }
            if off { try asking.forget() }
            try Console.print(
                settings.map { VisibleText.escape("usage-push --watch asks \(tool) itself: " + Self.text($0)) }
                    ?? "\(tool) is no longer asked")
        }

        /// "at most every 10m, if the numbers are older than 15m; program /usr/bin/codex".
        static func text(_ settings: AskSettings) -> String {
            func length(_ seconds: Int) -> String {
                seconds.isMultiple(of: 60) ? DurationFormatter.length(minutes: seconds / 60) : "\(seconds)s"
            }
            return "at most every \(length(settings.every)), if the numbers are older than "
                + "\(length(settings.whenOlder)); program \(settings.program)"
        }

        private func settings(program: String) -> AskSettings? {
            AskSettings(
                every: every.map { Int($0) } ?? AskSettings.defaultInterval,
                whenOlder: whenOlder.map { Int($0) } ?? AskSettings.defaultAge,
                program: program)
        }

        private static func refusal(of tool: String) -> String {
            guard tool == "claude" else {
                return "'\(VisibleText.escape(tool))' cannot be asked: use \(CodexAsking.id)."
            }
            return "Claude Code cannot be asked: without a terminal nothing states its percentages but the "
                + "rate_limit_event of its stream, which 'usage-push run' reads, and the undocumented get_usage."
        }
    }
}
