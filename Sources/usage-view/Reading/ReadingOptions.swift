import ArgumentParser
import Commands
import KVStoreEssentials
import KVStoreHTTP

/// Which store a command reads.
struct StoreOption: ParsableArguments {
    static let defaultName = StoreConfiguration.defaultStoreName

    @Option(name: .customLong("store"), help: "Name of the store to read.")
    var name = defaultName

    func validate() throws {
        guard StoreConfiguration.isValidStoreName(name) else {
            throw ValidationError("invalid store name '\(name)': use letters, digits, '.', '_' or '-'")
        }
    }
}

/// How long a command waits for newer values.
struct TimeoutOption: ParsableArguments {
    @Option(
        name: .customLong("timeout"),
        help: "Seconds to wait for the daemon before showing local data; 0 does not wait.")
    var seconds = 2.0

    func validate() throws {
        guard (0...60).contains(seconds) else { throw ValidationError("--timeout must be between 0 and 60 seconds") }
    }
}

/// Which store a command reads, and how long it waits for newer values.
struct ReadingOptions: ParsableArguments {
    @OptionGroup var store: StoreOption

    @OptionGroup private var wait: TimeoutOption

    var timeout: Double { wait.seconds }

    /// Opens the store, see `UsageReader.open`.
    func open(isLive: Bool) throws -> UsageReader { try UsageReader.open(storeNamed: store.name, isLive: isLive) }
}
