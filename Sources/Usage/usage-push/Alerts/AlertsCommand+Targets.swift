import Essentials
import ArgumentParser
import Commands
import LocalFiles
import OutgoingHTTP
import TerminalText
import UsagePusher

extension AlertsCommand {
    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Deliver alerts to a target.",
            discussion: """
                desktop  by notify-send
                command  runs a program with the alert as JSON on its standard input; all that follows \
                are its path and arguments
                ntfy     needs the secret ntfy-topic, and ntfy-token where the topic is protected
                webhook  posts the alert as JSON to the secret webhook-url, with webhook-headers
                """)

        @Argument(help: "desktop, command, ntfy or webhook.")
        var target: AlertTargetKind

        @Option(help: ArgumentHelp("With ntfy: the server.", valueName: "url"))
        var server: String?

        @Option(help: ArgumentHelp("With ntfy: opened by a tap.", valueName: "url"))
        var click: String?

        @Argument(help: ArgumentHelp("With command: the program and its arguments.", valueName: "program"))
        var program: [String] = []

        /// With the end of our options before a program, so that its own are none of ours or of an outer command.
        static func endingOptions(in arguments: [String]) -> [String] {
            let start = ["alerts", "enable", "command"]
            guard arguments.starts(with: start), arguments.count > 3,
                !["--", "-h", "--help"].contains(arguments[3])
            else { return arguments }
            return start + ["--"] + arguments.dropFirst(3)
        }

        func validate() throws {
            if target != .ntfy, server != nil || click != nil {
                throw ValidationError("--server and --click belong to ntfy.")
            }
            if target == .command, program.isEmpty {
                throw ValidationError("Name the program: usage-push alerts enable command PATH.")
            }
            if target != .command, !program.isEmpty {
                throw ValidationError("Unexpected '\(VisibleText.escape(program[0]))'.")
            }
            for (name, url) in [("server", server), ("click", click)] {
                guard let url, HTTPAddress(url) == nil else { continue }
                throw ValidationError(
                    "--\(name) must be an address that begins with https:// or http://, without a "
                        + "user, not '\(VisibleText.escape(SecretMask.masked(url)))'."
                )
            }
        }

        func run() throws {
            let secrets = try AlertsCommand.readSecrets()
            try AlertsCommand.changeSettings { settings in
                switch target {
                case .desktop: settings.desktop = true
                case .command: settings.command = try [Self.path(program[0])] + program.dropFirst()
                case .ntfy:
                    try Self.require(.ntfyTopic, in: secrets)
                    settings.ntfy = AlertSettings.Ntfy(
                        server: server ?? settings.ntfy?.server ?? "https://ntfy.sh",
                        click: click ?? settings.ntfy?.click)
                case .webhook:
                    try Self.require(.webhookURL, in: secrets)
                    settings.webhook = true
                }
            }
            try Console.print("enabled \(target.rawValue); to try it: usage-push alerts test")
        }

        private static func require(_ name: AlertSecrets.Name, in secrets: AlertSecrets) throws(CommandFailure) {
            guard secrets[name] == nil else { return }
            throw CommandFailure(.noInput, "\(name.rawValue) is not set; run usage-push alerts secret \(name.rawValue)")
        }

        /// The absolute path of the program, which later runs in another directory.
        private static func path(_ name: String) throws(CommandFailure) -> String {
            let expanded = UserDirectories().expanded(name)
            let absolute = URL(fileURLWithPath: expanded).standardizedFileURL.path
            let found =
                name.contains("/")
                ? SearchPath.isProgram(absolute) ? absolute : nil
                : SearchPath().path(of: name)
            guard let found else {
                throw CommandFailure(.noInput, "there is no program \(SecretMask.masked(name)) that can be run")
            }
            do throws(TrustedProgram.Refusal) { try TrustedProgram.check(found) } catch {
                throw CommandFailure(.noPermission, "cannot use \(found): \(error.reason)")
            }
            return found
        }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable", abstract: "No longer deliver alerts to a target.")

        @Argument(help: "desktop, command, ntfy or webhook.")
        var target: AlertTargetKind

        func run() throws {
            try AlertsCommand.changeSettings { settings in
                guard settings.targets.contains(target) else {
                    throw CommandFailure(.noInput, "\(target.rawValue) is not enabled; run usage-push alerts")
                }
                switch target {
                case .desktop: settings.desktop = false
                case .command: settings.command = nil
                case .ntfy: settings.ntfy = nil
                case .webhook: settings.webhook = false
                }
            }
            try Console.print("disabled \(target.rawValue)")
        }
    }
}
