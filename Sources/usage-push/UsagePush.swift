import ArgumentParser
import CommandRunner
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import TerminalText
import UsagePusher

/// Reads the limits that AI coding tools leave on this machine and pushes them to the store.
@main
struct UsagePush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage-push",
        abstract: "Pushes the limits of this machine's AI coding tools to your other screens.",
        discussion: """
            Reads the files that the tools keep in your home folder, and nothing else: no network, \
            no credentials. What they say goes to the local replica and, once you have run \
            'kvs join', to your other machines. See it there with usage-view.

            EXAMPLES
              usage-push                     read once and push
              usage-push --watch             stay, and push when a tool writes something new
              usage-push --print --pretty    show what would be pushed, and push nothing
              usage-push --provider codex    only this tool
              usage-push sources             what was found where, and why a tool has no percent

            EXIT STATUS
              0 pushed, also when the daemon is away: it gets the snapshot later
              64 wrong usage · 65 this machine's id file is damaged
              66 no tool has left anything to push (not with --watch)
              69 the store cannot be opened, or the daemon refuses this machine
              73 the id file cannot be written · 74 reading or writing failed
            """,
        version: ProgramVersion.text,
        subcommands: [SourcesCommand.self, ClaudeStatuslineCommand.self])

    @Flag(help: "Stay, and push when something a viewer shows has changed, or every 100 seconds.")
    var watch = false

    @Flag(help: "Print the snapshot as JSON instead of pushing it.")
    var print = false

    @Flag(help: "With --print: on several lines.")
    var pretty = false

    @OptionGroup var reading: ReadingOptions

    @Option(help: "The store to push to.")
    var store = StoreConfiguration.defaultStoreName

    @Flag(name: .shortAndLong, help: "Say only what goes wrong.")
    var quiet = false

    @Flag(
        name: .shortAndLong, help: "Say also how large a push was and how the store is connected.")
    var verbose = false

    func validate() throws {
        if print, watch { throw ValidationError("--print prints once; leave --watch out.") }
        if pretty, !print { throw ValidationError("--pretty belongs to --print.") }
        if quiet, verbose { throw ValidationError("choose --quiet or --verbose.") }
        guard StoreConfiguration.isValidStoreName(store) else {
            throw ValidationError(
                "'\(VisibleText.escape(store))' is not a store name: use letters, digits, '.', "
                    + "'_' or '-'.")
        }
    }

    static func main() async { await runProgram() }

    func run() async throws {
        let environment = StoreEnvironment()
        let identityFile = DeviceIdentityFile(dataDirectory: environment.dataDirectory)
        let name = DeviceIdentity.systemName()
        if print {
            let id = try? identityFile.read()
            try PrintOnce(isPretty: pretty, home: reading.environment.home)
                .run(try reading.builder(device: DeviceIdentity(id: id, name: name)))
            return
        }
        let device: DeviceIdentity
        do throws(DeviceIdentityFile.Failure) {
            device = DeviceIdentity(id: try identityFile.readOrCreate(), name: name)
        } catch {
            throw CommandFailure(error)
        }
        let builder = try reading.builder(device: device)
        let volume: Console.Volume = quiet ? .quiet : verbose ? .verbose : .usual
        if watch {
            try await PushWatch(
                environment: environment, storeName: store, volume: volume
            ).run(builder)
        } else {
            try await PushOnce(
                environment: environment, storeName: store, volume: volume,
                home: reading.environment.home
            ).run(builder)
        }
    }
}
