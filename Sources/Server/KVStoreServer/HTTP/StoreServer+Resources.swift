package import Essentials
package import KVStoreCore
package import KVStoreWire
package import NIOCore

/// What the resources of a provider and other parts of a daemon are about. What has an event loop as an argument is
/// called on it.
extension StoreServer {
    /// Completes on the event loop with the included keys of a store that have a value, sorted, when they are durable;
    /// with nil for an unknown store.
    package func readValues(
        of store: StoreID, where isIncluded: @escaping @Sendable (StoreKey) -> Bool, on loop: WatcherRegistry,
        _ complete: @escaping Completion<[SequencedRecord]?>
    ) {
        engine.values(in: store, where: isIncluded, on: loop, complete)
    }

    /// The same for a task.
    package func values(
        of store: StoreID, where isIncluded: @escaping @Sendable (StoreKey) -> Bool
    ) async throws(Problem) -> [SequencedRecord]? {
        try await engine.wait { [engine] in engine.values(in: store, where: isIncluded, on: $0, $1)
        }
    }

    /// Writes a key with a stamp of the server; returns when that is durable.
    package func write(_ value: Data, forKey key: StoreKey, of store: StoreID) async throws(Problem) {
        let content = StoreRecord.Content.value(PropertyListValue.data(value).encoded())
        _ = try await engine.wait { [engine, replica] in
            engine.write(content, forKey: key, store: store, if: .none, by: nil, replica: replica, on: $0, $1)
        }
    }

    /// Calls `notify` on an event loop when the store has durable changes, or devices have changed. The store need not
    /// exist.
    package func observe(_ store: StoreID, _ notify: @escaping @Sendable () -> Void) -> StoreObserver {
        StoreObserver(store, on: engine.loops[0], notify)
    }

    /// Calls `notify` after devices have changed, on the thread that noticed, as long as the server exists.
    package func observeDevices(_ notify: @escaping @Sendable () -> Void) {
        devices.addObserver(notify)
    }

    /// Identifies the data of the server.
    package var instance: String { devices.instance }

    /// The devices of accounts.
    package func devices(ofAccounts accounts: Set<String>) async throws(Problem) -> [Device] {
        try await withCheckedContinuation { continuation in
            devices.devices(ofAccounts: accounts) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Whether the device still exists with the same permissions.
    package func isCurrent(_ device: Device) -> Bool { devices.isCurrent(device) }

    /// Completes on the event loop, at once or later, with the devices of an account and which of them are connected.
    package func describeDevices(
        ofAccount account: String, on loop: any EventLoop, _ complete: @escaping Completion<[DaemonDevice]>
    ) {
        let completion = NIOLoopBound(complete, eventLoop: loop)
        devices.describe(account: account) { result in
            if loop.inEventLoop { return completion.value(result) }
            loop.execute { completion.value(result) }
        }
    }

    /// Milliseconds since 1970.
    package func now(of account: String) -> Int64 { engine.now(of: account) }
}

extension SequencedRecord {
    /// What has one value: a sequence number is assigned once in an epoch, which the stamp tells apart.
    package struct Version: Sendable, Equatable {
        var key: StoreKey
        var stamp: StoreStamp
        var sequence: UInt64
    }

    package var version: Version {
        Version(key: record.key, stamp: record.stamp, sequence: sequence)
    }
}

extension Sequence<SequencedRecord> {
    /// The values that are data, by key: as a replica's getter, anything else is no value.
    package var dataByKey: [String: Data] {
        var values: [String: Data] = [:]
        for record in lazy.map(\.record) {
            guard case .value(let bytes) = record.content,
                case .data(let value)? = try? PropertyListValue(encoded: bytes)  // other bytes are no data
            else { continue }
            values[record.key.text] = value
        }
        return values
    }
}
