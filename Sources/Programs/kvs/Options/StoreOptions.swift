import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP

/// Which store, and how long to wait for the daemon.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("store"), help: "Name of the store.")
    var storeName = StoreConfiguration.defaultStoreName

    @Flag(name: .customLong("no-sync"), help: "Do not contact the daemon.")
    var isLocalOnly = false

    @OptionGroup var timeout: TimeoutOption

    func validate() throws {
        guard StoreConfiguration.isValidStoreName(storeName) else {
            throw ValidationError(
                "invalid store name '\(storeName)': use 1–128 letters, digits, '.', '_' or '-', not starting with '.'")
        }
    }

    func open(isLive: Bool = false) throws(StoreError) -> OpenedStore {
        try OpenedStore(name: storeName, isLive: isLive, isLocalOnly: isLocalOnly, timeoutSeconds: timeout.seconds)
    }

    /// Opens the store to read what this machine has, without contacting the daemon unless the newest values are
    /// required or none have been received yet.
    func openToRead(isFresh: Bool) async throws -> OpenedStore {
        if !isFresh, !isLocalOnly,
            let opened = try OpenedStore.received(name: storeName, timeoutSeconds: timeout.seconds)
        {
            return opened
        }
        let opened = try open()
        try await opened.refresh(isRequired: isFresh)
        return opened
    }
}

struct TimeoutOption: ParsableArguments {
    @Option(name: .customLong("timeout"), help: "Seconds to wait for the daemon.")
    var seconds = 10.0

    var limit: Duration { .seconds(seconds) }

    func validate() throws {
        guard seconds > 0, seconds <= 600 else {
            throw ValidationError("--timeout must be more than 0 and at most 600 seconds")
        }
    }
}

extension CompletionKind {
    /// Keys of the local replica; does not contact the daemon.
    static let storedKeys = CompletionKind.custom { words, _, prefix in
        let name = words.drop { $0 != "--store" }.dropFirst().first
        guard
            let store = try? UbiquitousKeyValueStore.openReplica(  // A shell has no place for errors.
                storeNamed: name ?? StoreConfiguration.defaultStoreName)
        else { return [] }
        defer { store.close() }
        return store.keys.filter { $0.hasPrefix(prefix) && ShellWord.isPlain($0) }
    }
}
