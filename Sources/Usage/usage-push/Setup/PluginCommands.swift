import Essentials
import ArgumentParser
import Commands
import TerminalText
import UsagePusher

extension ConfigCommand {
    struct EnablePlugin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable-plugin",
            abstract: "Run a program in providers.d for its limits.",
            discussion: """
                The file must be a regular one that only you or the superuser can write. It runs \
                with your rights, a short environment and an empty input, and is stopped when it \
                takes too long, prints more than 1 MiB or takes more than 1 GiB of memory. When \
                its owner or mode changes it no longer runs until it is enabled again.
                """)

        @Argument(help: "The name of the file.")
        var name: String

        @Option(help: ArgumentHelp("Stop a run after this time, 1 to 60.", valueName: "seconds"))
        var timeout = EnabledPlugin.defaultTimeout

        @Option(help: ArgumentHelp("Run it at most once in this time, 60 to 86400.", valueName: "seconds"))
        var interval = EnabledPlugin.defaultInterval

        func validate() throws {
            try PluginName.validate(name)
            guard EnabledPlugin.timeouts.contains(timeout) else {
                throw ValidationError("--timeout must be 1 to 60 seconds.")
            }
            guard EnabledPlugin.intervals.contains(interval) else {
                throw ValidationError("--interval must be 60 to 86400 seconds.")
            }
        }

        func run() throws {
            let file = PluginFile(name, in: ReadingOptions.ownEnvironment)
            let plugin: EnabledPlugin
            do throws(TrustedProgram.Refusal) {
                plugin = try file.enabled(timeout: timeout, interval: interval)
            } catch {
                throw CommandFailure(.noInput, "cannot enable \(file.path): \(error.reason)")
            }
            try ConfigCommand.setPlugin(name, plugin)
            try Console.print(VisibleText.escape("enabled \(file.path); to see what it gives: usage-push sources"))
        }
    }

    struct DisablePlugin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable-plugin", abstract: "No longer run a plug-in.")

        @Argument(help: "The name of the file.")
        var name: String

        func validate() throws { try PluginName.validate(name) }

        func run() throws {
            guard try ConfigCommand.setPlugin(name, nil) else {
                throw CommandFailure(.noInput, "\(name) is not enabled; run usage-push config show")
            }
            try Console.print("disabled \(name)")
        }
    }

    /// Returns false when it was like this already.
    @discardableResult
    private static func setPlugin(_ name: String, _ plugin: EnabledPlugin?) throws -> Bool {
        try PusherConfigurationFile().change { configuration in
            guard configuration.setPlugin(name, plugin) else { return false }
            guard configuration.plugins.count <= PluginFile.countLimit else {
                throw CommandFailure(.configuration, "no more than \(PluginFile.countLimit) plug-ins can be enabled")
            }
            return true
        }
    }
}

private enum PluginName {
    static func validate(_ name: String) throws {
        guard !PluginFile.isName(name) else { return }
        throw ValidationError(
            "Invalid name '\(VisibleText.escape(name))': use the name of a program in providers.d, "
                + "of letters, digits, '.', '_' and '-', that does not end in .json.")
    }
}
