import Essentials
import ArgumentParser
import Commands
import KVStoreEssentials
import KVStoreHTTP
import UsagePusher

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Keep pushing in the background.",
        discussion: """
            Runs 'usage-push --watch' as a service of your user: a systemd user unit on Linux, a \
            launchd agent on macOS. It starts when you log in, and again after a failure.

            EXAMPLES
              usage-push service install          write the unit, enable and start it
              usage-push service install --print  print the unit, and change nothing
              usage-push service status           is it running, and when was the last push?
              usage-push service remove           stop it and remove the unit
            """,
        subcommands: [Install.self, Status.self, Remove.self])

    private static let service = BackgroundService(program: "usage-push")

    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Write the unit, enable and start it.",
            discussion: """
                The unit runs this program at its present path. The variables that say where files \
                are, of this program and of the tools that it reads, are written into it if they are \
                set; no other variable is. Install again after one of them or the path has changed.

                VARIABLES
                  \((ServiceUnit.variableNames + UsageSources.variables).joined(separator: ", "))

                EXIT STATUS
                  0 the service runs
                  69 the unit is written, but nothing on this machine can start it
                  73 the unit cannot be written · 74 it cannot be started
                """)

        @Flag(help: "Print the unit, and change nothing.")
        var print = false

        /// The parser gives an option to the outermost command that has one of its name.
        @ParentCommand var root: UsagePush

        func run() throws {
            let unit = ServiceUnit(
                program: "usage-push", description: "Ubiquity usage pusher for AI coding tools",
                executable: ProgramLocation.current(name: "usage-push").path, arguments: ["--watch", "--quiet"],
                variables: ProcessInfo.processInfo.environment, names: UsageSources.variables, directives: ["Nice=10"])
            if print || root.print { return try Console.write(Data(ServiceCommand.service.text(of: unit).utf8)) }
            try ServiceCommand.service.install(
                unit,
                otherwise: "Run 'usage-push --watch' from what starts programs on this machine,"
                    + " or install the service again where systemd runs for your user.")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Stop the service and remove its unit.")

        func run() throws { try ServiceCommand.service.remove() }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether the service runs, its last push and its errors.",
            discussion: "Exits 0 if the service is active, else 1.")

        @Flag(help: "Print JSON.")
        var json = false

        @Option(help: "The store that is pushed to.")
        var store = StoreConfiguration.defaultStoreName

        /// As in `Install`.
        @ParentCommand var root: UsagePush

        func run() throws {
            let environment = StoreEnvironment()
            let report = PushServiceReport(
                service: try ServiceCommand.service.report(),
                lastPush: LastPush.read(environment, storeName: root.store),
                // What is wrong with the credentials is said of the last push.
                isRemoved: environment.isRemoved(try? environment.credentials()))
            if json {
                try Console.printJSON(report, isIndented: true)
            } else {
                for line in report.lines(now: Date()) { try Console.print(line) }
            }
            if !report.service.state.isActive { throw ExitCode(ExitStatus.failure.rawValue) }
        }
    }
}
