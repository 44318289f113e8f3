import Essentials
import ArgumentParser
import Commands
import LocalFiles
import TerminalText
import UsagePusher

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show and change which homes of the tools are read, which plug-ins run and which tools are asked.",
        discussion: """
            A tool can have several homes, one for each account. Those of CLAUDE_CONFIG_DIR and \
            CODEX_HOME, or the usual ones, are always read; others are configured here. A running \
            'usage-push --watch' reads the configuration when it starts.

            A plug-in is a program in providers.d of the configuration directory that prints the \
            limits of providers as JSON. It runs only if it is enabled here, and usually uses the \
            network. Documents there, *.json, are read without that. See docs/plugins.md. Alerts are in \
            the same file; they are changed with usage-push alerts.

            A tool is asked for its limits only if that is allowed here; the tool then uses its own \
            login and the network. A running 'usage-push --watch' takes this over at once.

            EXAMPLES
              usage-push config add-home claude ~/.claude-work
              usage-push config remove-home claude ~/.claude-work
              usage-push config enable-plugin codexbar --timeout 30
              usage-push config ask codex --every 10m --when-older 15m
              usage-push config ledger --projects named
              usage-push config show --json
            """,
        subcommands: [
            Show.self, AddHome.self, RemoveHome.self, EnablePlugin.self, DisablePlugin.self, Ask.self,
            Ledger.self,
        ],
        defaultSubcommand: Show.self)

    /// A home as it is given on the command line.
    struct HomeArguments: ParsableArguments {
        @Argument(help: ArgumentHelp("\(UsageSources.withHomes.choice).", valueName: "tool"))
        var tool: String

        @Argument(help: "The directory.", completion: .directory)
        var directory: String

        func validate() throws {
            guard UsageSources.withHomes.contains(where: { $0.providerID == tool }) else {
                throw ValidationError(
                    "Unknown tool '\(VisibleText.escape(tool))': use \(UsageSources.withHomes.choice)."
                )
            }
        }

        /// With an absolute path.
        var home: ToolHome {
            let path = UserDirectories().expanded(directory)
            return ToolHome(providerID: tool, path: URL(fileURLWithPath: path).standardizedFileURL.path)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the configured homes, the enabled plug-ins and the tools that are asked.")

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let file = PusherConfigurationFile()
            let (configuration, issues) = try file.readReportingFailure()
            for issue in issues { Console.report(issue) }
            if json {
                let document = Document(
                    path: file.path, homes: configuration.homes, plugins: configuration.plugins,
                    ask: configuration.asking)
                return try Console.printJSON(document, isIndented: true)
            }
            if configuration.homes.isEmpty {
                try Console.print("no further homes; to add one: usage-push config add-home TOOL DIRECTORY")
            }
            for (id, paths) in configuration.homes.sorted(by: { $0.key < $1.key }) {
                for path in paths { try Console.print(VisibleText.escape("\(id)  \(path)")) }
            }
            for (name, plugin) in configuration.plugins.sorted(by: { $0.key < $1.key }) {
                try Console.print(
                    VisibleText.escape(
                        "plug-in \(name)  at most every \(plugin.interval) s,"
                            + " stopped after \(plugin.timeout) s"))
            }
            for (id, settings) in configuration.asking.sorted(by: { $0.key < $1.key }) {
                try Console.print(VisibleText.escape("ask \(id)  " + Ask.text(settings)))
            }
        }

        /// Fields are added, never renamed or removed.
        private struct Document: Encodable {
            var path: String
            var homes: [String: [String]]
            var plugins: [String: EnabledPlugin]
            var ask: [String: AskSettings]
        }
    }

    struct AddHome: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add-home", abstract: "Also read a home of a tool.")

        @OptionGroup var arguments: HomeArguments

        func run() throws {
            let home = arguments.home
            // Whatever is wrong, it is no directory to read.
            guard (try? FileStatus(path: home.path))?.kind == .directory else {
                throw CommandFailure(.noInput, "no directory \(home.path)")
            }
            guard try PusherConfigurationFile().change({ $0.add(home) }) else {
                return try Console.print(VisibleText.escape("already configured: \(home.path)"))
            }
            try Console.print(VisibleText.escape("added \(home.path)"))
            if !ToolHomes.isHome(home) {
                Console.report("\(home.path) does not look like a home of \(home.providerID) yet")
            }
        }
    }

    struct RemoveHome: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-home", abstract: "No longer read a home of a tool.")

        @OptionGroup var arguments: HomeArguments

        func run() throws {
            let home = arguments.home
            guard try PusherConfigurationFile().change({ $0.remove(home) }) else {
                throw CommandFailure(.noInput, "\(home.path) is not configured; run usage-push config show")
            }
            try Console.print(VisibleText.escape("removed \(home.path)"))
        }
    }
}
