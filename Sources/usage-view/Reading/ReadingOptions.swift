import ArgumentParser
import CommandSupport
import KVStoreEssentials
import KVStoreHTTP

/// Which store a command reads, and how long it waits for newer values.
struct ReadingOptions: ParsableArguments {
    @Option(help: "Name of the store to read.")
    var store = StoreConfiguration.defaultStoreName

    @Option(help: "Seconds to wait for the daemon before showing local data; 0 does not wait.")
    var timeout = 2.0

    func validate() throws {
        guard StoreConfiguration.isValidStoreName(store) else {
            throw ValidationError(
                "invalid store name '\(store)': use letters, digits, '.', '_' or '-'")
        }
        guard (0...60).contains(timeout) else {
            throw ValidationError("--timeout must be between 0 and 60 seconds")
        }
    }

    /// Opens the store; repairs are reported on standard error, before a live screen hides it.
    ///
    /// - Parameter isLive: whether changes are followed.
    func open(isLive: Bool) throws -> UsageReader {
        var configuration = try StoreEnvironment().configuration(storeNamed: store, isLive: isLive)
        configuration.isWatched = isLive
        let store = try UbiquitousKeyValueStore(configuration: configuration)
        for note in store.status.recoveryNotes { Console.report(note) }
        return UsageReader(store: store)
    }
}
