import ArgumentParser
import KVStore

/// Which store, and how long the daemon may take.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("store"), help: "The store's name.")
    var storeName = StoreConfiguration.defaultStoreName

    @Flag(name: .customLong("no-sync"), help: "Do not talk to the daemon.")
    var isLocalOnly = false

    @Option(name: .customLong("timeout"), help: "Seconds to wait for the daemon.")
    var timeoutSeconds = 10.0

    mutating func validate() throws {
        guard StoreConfiguration.isValidStoreName(storeName) else {
            throw ValidationError(
                "--store '\(storeName)' is not a store's name: use 1–128 letters, digits, '.', "
                    + "'_' or '-', not starting with '.'.")
        }
        guard timeoutSeconds > 0, timeoutSeconds <= 600 else {
            throw ValidationError("--timeout takes more than 0 and at most 600 seconds.")
        }
    }

    func open(isLive: Bool = false) throws(StoreError) -> OpenedStore {
        try OpenedStore(
            name: storeName, isLive: isLive, isLocalOnly: isLocalOnly,
            timeoutSeconds: timeoutSeconds)
    }
}
