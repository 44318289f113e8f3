import ArgumentParser
import Commands
import Essentials
import KVStoreServer

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Keep the daemon running in the background.",
        discussion: """
            Runs 'kvsd serve' as a service: a systemd user unit on Linux, a launchd agent on macOS. \
            With --system and as root, it is a system unit that starts with the machine and runs as \
            the user kvsd, with its data in \(Scope.systemData), confined to what it needs.

              kvsd service install
              kvsd service install -- --listen 0.0.0.0
              sudo kvsd service install --system -- --listen 0.0.0.0
              sudo -u kvsd kvsd pair --data \(Scope.systemData)
              kvsd service status
              kvsd service remove

            'systemctl reload kvsd' sends SIGHUP, see 'kvsd serve --help'.
            """,
        subcommands: [Install.self, Status.self, Remove.self])

    struct Scope: ParsableArguments {
        static let systemData = "/var/lib/kvsd"

        @Flag(help: "The service of the system instead of your user's.") var system = false

        var service: BackgroundService {
            BackgroundService(program: "kvsd", scope: system ? .system : .user)
        }
    }

    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Write the unit, enable and start it.",
            discussion: """
                The unit runs this program at its present path, with the options for 'kvsd serve' \
                that follow '--'. Of the environment, only the UBIQUITY and XDG directories are \
                written into a user unit. Another data directory of a system unit must belong to the user \
                kvsd. Install again after one of these has changed.

                Exit status: 0 the service runs; 69 the unit is written, but nothing on this machine \
                can start it; 73 the unit cannot be written; 74 it cannot be started; 77 not root.
                """)

        @OptionGroup var scope: Scope
        @Flag(help: "Print the unit, and change nothing.") var print = false
        @OptionGroup var data: DataOption
        @Argument(parsing: .postTerminator, help: "Options for 'kvsd serve', after '--'.")
        var options: [String] = []

        func run() throws {
            let unit = try unit()
            if print { return try Console.write(Data(scope.service.text(of: unit).utf8)) }
            try scope.service.install(
                unit,
                otherwise: "Run 'kvsd serve' from what starts programs on this machine, or install "
                    + "the service again where systemd runs.")
        }

        private func unit() throws -> ServiceUnit {
            let executable = ProgramLocation.current(name: "kvsd").path
            let hidden = ["/home/", "/root/", "/run/user/"].first { executable.hasPrefix($0) }
            if scope.system, !print, let hidden {
                throw CommandFailure(
                    .configuration,
                    "a service of the system cannot run programs in \(hidden); install kvsd elsewhere, "
                        + "for example with scripts/install --prefix /usr/local")
            }
            let path = scope.system && data.data == nil ? Scope.systemData : data.data.map(absolutePath)
            let arguments = ["serve"] + (path.map { ["--data", $0] } ?? []) + options
            // An option that 'kvsd serve' refuses would only show in the service's log.
            _ = try Kvsd.parseAsRoot(arguments)
            var directives = ["ExecReload=/bin/kill -HUP $MAINPID", "TimeoutStopSec=15"]
            if scope.system {
                directives.append("LimitNOFILE=65536")
                // Settings in their variables; the file comes with the Debian package.
                directives.append("EnvironmentFile=-/etc/default/kvsd")
                if let path, path != Scope.systemData {
                    directives.append("ReadWritePaths=\(ServiceUnit.quoted(path))")
                }
            }
            return ServiceUnit(
                program: "kvsd", description: "Ubiquity key-value daemon", scope: scope.system ? .system : .user,
                executable: executable, arguments: arguments, variables: ProcessInfo.processInfo.environment,
                directives: directives)
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether the service runs, and its last messages.",
            discussion: "Exits with 0 if the service is active, else with 1.")

        @OptionGroup var scope: Scope
        @Flag(help: "Print JSON.") var json = false

        func run() throws {
            let report = try scope.service.report()
            if json {
                try Console.printJSON(report)
            } else {
                for line in report.lines() { try Console.print(line) }
            }
            if !report.state.isActive { throw ExitCode(ExitStatus.failure.rawValue) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Stop the service and remove its unit; the data stays.")

        @OptionGroup var scope: Scope

        func run() throws { try scope.service.remove() }
    }
}

func absolutePath(_ path: String) -> String {
    URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
}
