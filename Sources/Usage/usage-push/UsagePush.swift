// The pusher's command line and its output. Not here: reading tools and deciding what to push
// (UsagePusher).

import Essentials
import ArgumentParser
import Commands
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import TerminalText
import UsagePusher

/// Where the program starts.
///
/// What Claude Code passes to its status line is captured here, because a prompt waits for it.
@main
enum Program {
    static func main() {
        Console.start(program: "usage-push")
        if let command = ClaudeStatuslineCommand.command(in: UsagePush.arguments) {
            return ClaudeStatuslineCommand.capture(command)
        }
        ProgramStart.run("usage-push") { await UsagePush.main() }
    }
}

struct UsagePush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage-push",
        abstract: "Push the limits of this machine's AI coding tools to your other machines.",
        discussion: """
            Reads only the files that the tools keep in your home directory; uses no network and \
            no credentials; plug-ins and alerts that you enable, and tools that you let it ask, may. \
            The limits are written to the local replica and, after 'ubq join', synced to your other \
            machines, where usage-view shows them.

            EXAMPLES
              usage-push                     read and push once
              usage-push --watch             keep running, and push when the limits change
              usage-push --print --pretty    print what would be pushed, and push nothing
              usage-push --provider codex    read only this tool
              usage-push setup               capture the exact limits of Claude Code
              usage-push service install     keep pushing in the background
              usage-push sources             list what was found, and why limits are missing
              usage-push explain codex       list every reading of a tool, and why it counts or not
              usage-push report              add up tokens and costs by day, week, month, session
              usage-push import old.json     add what ccusage knows of days whose logs are deleted
              usage-push alerts              list when you are warned, and how
              usage-push prices              list what models cost, and where each price is from
              usage-push run -- claude -p …  start an agent only while its limits allow

            EXIT STATUS
              0 pushed, even if the daemon is unreachable: the snapshot is synced later
              1 pushed, but not everything could be read; what is missing is named
              64 invalid usage · 65 this machine's identity file is damaged
              66 nothing to push (not with --watch)
              69 the store cannot be opened, or the daemon rejects this machine
              73 the identity file cannot be written · 74 reading or writing failed
            """,
        version: ProgramVersion.text,
        subcommands: [
            SetupCommand.self, ServiceCommand.self, SourcesCommand.self, ExplainCommand.self, ReportCommand.self,
            PricesCommand.self, ImportCommand.self, AlertsCommand.self, RunCommand.self, ConfigCommand.self,
            ClaudeStatuslineCommand.self,
        ])

    @Flag(help: "Keep running, and push when the limits change, at least every 100 seconds.")
    var watch = false

    @Flag(help: "Print the snapshot as JSON instead of pushing it.")
    var print = false

    @Flag(help: "With --print: pretty-print.")
    var pretty = false

    @OptionGroup var reading: ReadingOptions

    @Option(help: "The store to push to.")
    var store = StoreConfiguration.defaultStoreName

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Also print the size of each push and the connection.")
    var verbose = false

    func validate() throws {
        if print, watch { throw ValidationError("--print and --watch cannot be combined.") }
        if pretty, !print { throw ValidationError("--pretty requires --print.") }
        if quiet, verbose { throw ValidationError("--quiet and --verbose cannot be combined.") }
        guard StoreConfiguration.isValidStoreName(store) else {
            throw ValidationError(
                "Invalid store name '\(VisibleText.escape(store))': use letters, digits, '.', '_' "
                    + "or '-'.")
        }
    }

    static func main() async {
        await runProgram(
            RunCommand.namingProvider(
                in: ReportCommand.attachingProject(
                    in: AlertsCommand.Enable.endingOptions(in: arguments))))
    }

    fileprivate static var arguments: [String] {
        ProgramArguments.given(passedOnBy: RunCommand.configuration.commandName)
    }

    func run() async throws {
        let environment = StoreEnvironment()
        let identityFile = DeviceIdentityFile(dataDirectory: environment.dataDirectory)
        if print {
            // Only shown: a push says what is wrong.
            var builder = reading.builder(device: Self.device(id: try? identityFile.read(), environment))
            addCosts(to: &builder)
            return try PrintOnce(isPretty: pretty).run(builder)
        }
        let deviceID = try Self.id(in: identityFile)
        var builder = reading.builder(device: Self.device(id: deviceID, environment))
        if reading.home == nil { builder.rememberAccounts(in: AccountHistoryFile(builder.environment)) }
        let volume: Console.Volume = quiet ? .quiet : verbose ? .verbose : .usual
        addCosts(to: &builder)
        if watch {
            try await PushWatch(
                environment: environment, storeName: store, deviceID: deviceID, volume: volume
            ).run(builder)
        } else {
            try await PushOnce(
                environment: environment, storeName: store, deviceID: deviceID, volume: volume
            ).run(builder)
        }
    }

    private func addCosts(to builder: inout SnapshotBuilder) {
        let (prices, issues) = ModelPrices.load()
        for issue in issues { Console.report(issue) }
        builder.includeCosts(prices: prices)
    }

    static func id(in file: DeviceIdentityFile) throws(CommandFailure) -> String {
        do throws(FileError) {
            if let id = try file.read() { return id }
        } catch {
            throw CommandFailure(error.isInvalid ? .dataError : .ioError, error.description)
        }
        return try CommandFailure.ending(.cannotCreate, file.readOrCreate)
    }

    private static func device(id: String?, _ environment: StoreEnvironment) -> DeviceIdentity {
        var device = DeviceIdentity(id: id, name: DeviceIdentity.systemName())
        // Invalid credentials are an error of the store, which --print does not open.
        device.daemonID = (try? environment.credentials())?.daemonDeviceID
        return device
    }
}
