package import KVStoreCore
package import KVStoreWire

/// What the resources of a provider are about. Called on the event loop of the request.
extension StoreServer {
    /// Completes on the event loop with the included keys of a store that have a value, sorted, when they are durable; with
    /// nil for an unknown store.
    package func readValues(
        of store: StoreID, where isIncluded: (StoreKey) -> Bool, on loop: WatcherRegistry,
        _ complete: @escaping (Result<[SequencedRecord]?, Problem>) -> Void
    ) {
        engine.perform(
            on: loop,
            { () throws(Problem) in
                try engine.values(in: store, where: isIncluded)
            }, complete)
    }

    /// The devices of an account, and which of them are connected.
    package func devices(ofAccount account: String) -> [DaemonDevice] {
        devices.table.devices.filter { $0.account == account }.map(devices.describe)
    }

    /// Milliseconds since 1970.
    package func now(of account: String) -> Int64 { engine.options.now(of: account) }
}
