import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import LocalFiles
import TerminalText
import UsagePusher

/// `usage-push service`.
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

    private static var variables: [String: String] { ProcessInfo.processInfo.environment }
    private static var home: String { UserDirectories().home }
    private static var file: LocalFile { BackgroundService.file(variables, home: home) }

    private static func shown(_ path: String) -> String {
        VisibleText.escape(PushMessages.abbreviated(path, home: home))
    }

    /// The text of the installed unit; nil without one.
    private static func installedText() throws -> String? {
        do throws(FileError) {
            return try file.read(byteLimit: 1_048_576).map {
                String(decoding: $0.data, as: UTF8.self)
            }
        } catch {
            throw CommandFailure(.ioError, error.description)
        }
    }

    private static func requireOwn(_ text: String) throws(CommandFailure) {
        guard text.contains(ServiceUnit.mark) else {
            throw CommandFailure(
                .cannotCreate,
                "\(file.path) was not written by usage-push; move it away and run this again")
        }
    }

    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the unit, enable and start it.",
            discussion: """
                The unit runs this program at its present path. CODEX_HOME, CLAUDE_CONFIG_DIR, \
                XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, UBIQUITY_CONFIG_DIR and \
                UBIQUITY_DATA_DIR are written into it if they are set; no other variable is. \
                Install again after one of them or the path has changed.

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
                executable: ProgramLocation.current.path, variables: ServiceCommand.variables)
            let text = BackgroundService.text(unit)
            if print || root.print { return try Console.write(Data(text.utf8)) }
            let former = try ServiceCommand.installedText()
            if let former { try ServiceCommand.requireOwn(former) }
            let file = ServiceCommand.file
            do throws(FileError) {
                try file.directory.create()
                try file.replace(with: Data(text.utf8), permissions: 0o644)
            } catch {
                throw CommandFailure(.cannotCreate, error.description)
            }
            try Console.print("wrote " + ServiceCommand.shown(file.path))
            switch BackgroundService.start(file, isReplaced: former.map { $0 != text } ?? false) {
            case .started(let notes):
                try Console.print("started; to see how it is doing: usage-push service status")
                for note in notes { try Console.print(note) }
            case .unavailable(let reason):
                throw CommandFailure(
                    .unavailable,
                    "the service is not started: \(reason)\n"
                        + "Run 'usage-push --watch' from what starts programs on this machine,"
                        + " or install the service again where systemd runs for your user.")
            case .failed(let reason):
                throw CommandFailure(.ioError, "cannot start the service: \(reason)")
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the service and remove its unit.")

        func run() throws {
            guard let text = try ServiceCommand.installedText() else {
                return try Console.print("the service is not installed")
            }
            try ServiceCommand.requireOwn(text)
            do throws(FileError) {
                if let issue = try BackgroundService.remove(ServiceCommand.file) {
                    Console.report("cannot stop the service: \(issue)")
                }
            } catch {
                throw CommandFailure(.ioError, error.description)
            }
            try Console.print("removed " + ServiceCommand.shown(ServiceCommand.file.path))
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show whether the service runs, its last push and its errors.",
            discussion: "Exits 0 if the service is active, else 1.")

        @Flag(help: "Print JSON.")
        var json = false

        @Option(help: "The store that is pushed to.")
        var store = StoreConfiguration.defaultStoreName

        /// As in `Install`.
        @ParentCommand var root: UsagePush

        func run() throws {
            let isInstalled = try ServiceCommand.installedText() != nil
            let report = ServiceReport(
                file: ServiceCommand.file.path, isInstalled: isInstalled,
                state: isInstalled
                    ? BackgroundService.state : ServiceState(description: "not installed"),
                lastPush: LastPush.read(StoreEnvironment(), storeName: root.store))
            if json {
                try Console.print(VisibleJSON.text(try report.encoded()))
            } else {
                for line in report.lines(home: ServiceCommand.home, now: Date()) {
                    try Console.print(line)
                }
            }
            if !report.state.isActive { throw ExitCode(ExitStatus.failure.rawValue) }
        }
    }
}
