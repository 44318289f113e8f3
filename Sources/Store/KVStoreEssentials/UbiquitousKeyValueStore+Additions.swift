package import Essentials
import KVStoreCore

// The members that Apple's class does not have. Disfavored are those whose names apps give to members of their own.
extension UbiquitousKeyValueStore {
    /// Flushes everything to disk, and ends the connection and all change streams. Later writes throw; closing again
    /// does nothing.
    public func close() { engine.close() }

    /// The present configuration; another one after `changeAccount(to:)`.
    public var configuration: StoreConfiguration { engine.configuration }

    /// Switches to another account's replica: reads show its values, and a notification with reason 3 follows. It names
    /// the keys whose values differ, if there are any and `accountChangeNamesKeys` is true. The former replica stays on
    /// disk, separately.
    ///
    /// A store without an account (no transport) carries its values over: keys that the account lacks are set there,
    /// keys that it has keep the account's values.
    ///
    /// Throws if the other replica cannot be opened, if the carried values exceed its quota, and `closed` after
    /// `close`; the store then stays as it was. If only connecting fails it throws too, with the new `configuration`
    /// in effect, and connects later by itself. Other calls may run concurrently; account changes are serialized.
    public func changeAccount(to configuration: StoreConfiguration) throws(StoreError) {
        try engine.changeAccount(to: configuration)
    }

    /// The value as a property list; nil for a missing key.
    public func propertyList(forKey key: String) -> PropertyListValue? {
        engine.propertyList(forKey: key)
    }

    /// All keys that have a value, sorted by their UTF-8 bytes.
    public var keys: [String] { engine.keys }

    /// A key's value as stored bytes with its stamp; nil for a missing key.
    @_disfavoredOverload
    public func record(forKey key: String) -> StoreRecord? { engine.record(forKey: key) }

    /// Sets a value, or removes the key with nil. On return the change is in the log and survives the process being
    /// killed; it survives power loss after `synchronize()`, or after 100 ms.
    @_disfavoredOverload
    public func write(_ value: PropertyListValue?, forKey key: String) throws(StoreError) {
        try write([key: value])
    }

    /// Sets several values, and removes the keys with nil: all of them, or none when it throws. They are written and
    /// travel together, so that other devices receive them in one notification. Survives as a single `write` does.
    ///
    /// ```swift
    /// try store.write(["title": .string("Notes"), "draft": nil])
    /// ```
    public func write(_ values: [String: PropertyListValue?]) throws(StoreError) {
        try engine.write(Dictionary(values.map { (StoreKey($0.key), $0.value) }) { $1 })
    }

    /// Flushes everything to disk, waits for a round trip and reports it. Throws `unreachable` as soon as the daemon
    /// turns out to be unreachable, and `cancelled` once the calling task is cancelled; pending keys are sent later.
    public func synchronizeNow() async throws(StoreError) -> SyncReport {
        try await engine.synchronizeNow(onlySends: false)
    }

    /// `synchronizeNow()`, which throws `unreachable` when it has not ended within the limit.
    @discardableResult
    public func synchronizeNow(within limit: Duration) async throws(StoreError) -> SyncReport {
        try await synchronizeNow(onlySends: false, within: limit)
    }

    /// `synchronizeNow(within:)` for what has been written alone: the request that carries it already is waited for,
    /// and no other one is made. A write and this are one round trip.
    ///
    /// ```swift
    /// try store.write(.string("dark"), forKey: "theme")
    /// let isAccepted = try await store.sendNow(within: .seconds(10)).pendingKeyCount == 0
    /// ```
    @discardableResult
    public func sendNow(within limit: Duration) async throws(StoreError) -> SyncReport {
        try await synchronizeNow(onlySends: true, within: limit)
    }

    private func synchronizeNow(onlySends: Bool, within limit: Duration) async throws(StoreError) -> SyncReport {
        let report = try await withDeadline(limit) { () throws(StoreError) in
            try await self.engine.synchronizeNow(onlySends: onlySends)
        }
        guard let report else {
            throw StoreError(
                Task.isCancelled ? .cancelled : .unreachable, operation: "synchronize",
                subject: "store \(configuration.storeName)",
                reason: Task.isCancelled ? "the task was cancelled" : "no answer within \(limit)")
        }
        return report
    }

    /// Downloads the account's values unless `status.initialSyncCompleted`, for a choice of the user on a new device:
    /// until then a value that is set is taken for a default and yields to the account's. Returns at once in a store
    /// without a transport, and else throws as `synchronizeNow(within:)`; a later sync downloads them then.
    public func completeInitialSync(within limit: Duration) async throws(StoreError) {
        guard configuration.transport != nil, !status.initialSyncCompleted else { return }
        try await synchronizeNow(within: limit)
    }

    /// Flushes everything to disk without contacting the daemon.
    @_disfavoredOverload
    public func flush() throws(StoreError) { try engine.flush() }

    /// The values of the keys that are data.
    package func data(where isIncluded: (String) -> Bool) -> [String: Data] {
        var values: [String: Data] = [:]
        for key in keys where isIncluded(key) { values[key] = data(forKey: key) }
        return values
    }

    /// Applies what other processes have written until now, where it is not watched or has not been noticed yet.
    @_disfavoredOverload
    public func refresh() throws(StoreError) { try engine.refresh() }

    /// Changes by other devices and processes. Each call returns a new stream, which starts now and ends with `close`.
    /// A slow reader gets the keys it missed in fewer, larger changes.
    public var changes: AsyncStream<StoreChange> { engine.changes }

    /// The present state of the connection, then every change, and the state after each change of the account. A slow
    /// reader gets only the newest.
    public var connectionChanges: AsyncStream<StoreStatus.Connection> { engine.connectionChanges }

    /// The state of the connection, of synchronization and of the quota.
    public var status: StoreStatus { engine.status }

    /// Returns when observers have been called with everything so far.
    package func drainDeliveries() async { await engine.drainDeliveries() }
}
