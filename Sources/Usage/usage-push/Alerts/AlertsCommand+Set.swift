import Essentials
import ArgumentParser
import Commands
import OutgoingHTTP
import TerminalText
import UsagePusher
import UsageState

extension AlertsCommand {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change the rules.",
            discussion: """
                Options that are not given change nothing. With --for, --thresholds counts for \
                that provider or window only, such as claude, claude/weekly or */session; 'default' \
                removes it again. Windows are named as usage-view names them, or session and weekly.
                """)

        enum Switch: String, ExpressibleByArgument {
            case on, off
        }

        @Option(help: ArgumentHelp("Percentages used, with commas, 'off' or 'default'.", valueName: "list"))
        var thresholds: String?

        // The parser gives --provider and --quiet to the outermost command.
        @Option(name: .customLong("for"), help: ArgumentHelp("What --thresholds is for.", valueName: "provider/window"))
        var scope: String?

        @Option(help: "Warn when a limit is reached: on or off.")
        var reached: Switch?

        @Option(
            help: ArgumentHelp(
                "Alert on a reset if at least this percentage was used, or 'off'.", valueName: "percent"))
        var resetFrom: String?

        @Option(help: "Warn when a limit runs out before its reset: on or off.")
        var runsOut: Switch?

        @Option(help: "Warn when a machine has not pushed for an hour: on or off.")
        var silence: Switch?

        @Option(help: "Warn when agents are paused by a rule of the gate: on or off.")
        var pauses: Switch?

        @Option(
            help: ArgumentHelp(
                "Also alert on stale, cached or estimated values; with commas, or 'none'.", valueName: "list"))
        var also: String?

        @Option(help: ArgumentHelp("Hold alerts in these hours, or 'off'.", valueName: "22:00-07:30"))
        var quietHours: String?

        @Option(help: "Warn on this machine whatever other machines do: on or off.")
        var independent: Switch?

        @Option(
            help: ArgumentHelp(
                "Allow this host and port of a target to be in a private network; may be repeated.",
                valueName: "host:port"))
        var privateHost: [String] = []

        @Option(help: ArgumentHelp("No longer allow it.", valueName: "host:port"))
        var removePrivateHost: [String] = []

        func validate() throws {
            if thresholds == nil, scope != nil { throw ValidationError("--for belongs to --thresholds.") }
            var settings = AlertSettings()
            try change(&settings)
        }

        func run() throws {
            let isChanged = try AlertsCommand.changeSettings { settings in
                try requireKnownScope(settings.rules)
                try change(&settings)
                guard settings.rules.scopes.count <= AlertRules.scopeLimit,
                    settings.privateHosts.count <= AlertRules.scopeLimit
                else {
                    throw CommandFailure(.configuration, "no more than \(AlertRules.scopeLimit) of these can be set")
                }
            }
            try Console.print(isChanged ? "changed; to see all rules: usage-push alerts" : "nothing to change")
        }

        private func change(_ settings: inout AlertSettings) throws {
            try changeThresholds(&settings.rules)
            if let reached { settings.rules.reached = reached == .on }
            if let runsOut { settings.rules.runsOut = runsOut == .on }
            if let silence { settings.rules.silence = silence == .on }
            if let pauses { settings.rules.pauses = pauses == .on }
            if let independent { settings.independent = independent == .on }
            if let resetFrom {
                guard resetFrom == "off" || Double(resetFrom).map((1...100).contains) == true else {
                    throw invalid("reset-from", resetFrom, "1 to 100, or 'off'")
                }
                settings.rules.resetFrom = Double(resetFrom)
            }
            if let quietHours {
                let hours = QuietHours(quietHours)
                guard hours != nil || quietHours == "off" else {
                    throw invalid("quiet-hours", quietHours, "two times like 22:00-07:30, or 'off'")
                }
                settings.quiet = hours
            }
            if let also {
                let names = also == "none" ? [] : also.split(separator: ",").map(String.init)
                let doubts = names.compactMap(AlertRules.Doubt.init)
                guard doubts.count == names.count else {
                    throw invalid("also", also, "stale, cached, estimates, or 'none'")
                }
                settings.rules.doubts = Swift.Set(doubts)
            }
            if let host = privateHost.first(where: { !HTTPAddress.isName($0) }) {
                throw invalid("private-host", host, "a host, or host:port")
            }
            let removed = removePrivateHost.map { $0.lowercased() }
            settings.privateHosts = (settings.privateHosts + privateHost.map { $0.lowercased() })
                .reduce(into: []) { hosts, host in
                    if !hosts.contains(host), !removed.contains(host) { hosts.append(host) }
                }
        }

        private func changeThresholds(_ rules: inout AlertRules) throws {
            guard let thresholds else { return }
            var list: [Double]? = AlertRules().thresholds
            if thresholds == "off" {
                list = []
            } else if thresholds != "default" {
                let numbers = thresholds.split(separator: ",", omittingEmptySubsequences: false)
                    .map { Double($0.trimmingPrefix(" ")) ?? .nan }
                list = AlertRules.valid(numbers)
            }
            guard let list else {
                throw invalid(
                    "thresholds", thresholds,
                    "up to \(AlertRules.thresholdLimit) numbers from 1 to 99 like 50,75,90, 'off' or "
                        + "'default'")
            }
            if let scope {
                guard let scope = AlertRules.scope(scope) else {
                    throw invalid("for", scope, "a provider, like claude, or claude/weekly")
                }
                rules.scopes[scope] = thresholds == "default" ? nil : list
            } else {
                rules.thresholds = list
            }
        }

        /// A threshold for what nobody reports would never warn.
        private func requireKnownScope(_ rules: AlertRules) throws(CommandFailure) {
            guard let scope = scope.flatMap(AlertRules.scope), rules.scopes[scope] == nil else { return }
            let parts = scope.split(separator: "/", maxSplits: 1).map(String.init)
            let reported = AlertsCommand.reportedWindows()
            let tools = UsageSources.all.map(\.providerID)
            let providers = Swift.Set(tools + reported.keys).sorted() + ["*"]
            try require(parts[0], in: providers, "a provider")
            guard parts.count == 2 else { return }
            let own = reported.filter { parts[0] == "*" || $0.key == parts[0] }
            let windows = Swift.Set(own.values.joined().map { $0.lowercased() })
            try require(
                parts[1], in: ["session", "weekly"] + windows.subtracting(["session", "weekly"]).sorted(),
                "a window of \(parts[0])")
        }

        private func require(_ name: String, in names: [String], _ kind: String) throws(CommandFailure) {
            guard !names.contains(name) else { return }
            throw CommandFailure(
                .usage,
                "--for must name \(kind), which are \(names.joined(separator: ", ")); not "
                    + "'\(VisibleText.escape(SecretMask.masked(name)))'"
            )
        }

        private func invalid(_ option: String, _ value: String, _ form: String) -> ValidationError {
            ValidationError("--\(option) must be \(form), not '\(VisibleText.escape(SecretMask.masked(value)))'.")
        }
    }
}
