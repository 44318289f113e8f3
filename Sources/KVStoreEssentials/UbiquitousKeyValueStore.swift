@_exported public import KVStoreCore
import Synchronization

/// A key-value store whose values reach every device of an account.
///
/// It has the members of Apple's `NSUbiquitousKeyValueStore`, with the same names and results. Reads are served
/// from memory, writes are appended to the replica's log before they return, and everything works offline.
/// All members may be called from any thread. Any number of processes may open one replica.
///
/// ```swift
/// let store = try UbiquitousKeyValueStore(
///     configuration: StoreConfiguration(directory: "/tmp/example", transport: transport))
/// store.set("dark", forKey: "theme")
/// for await change in store.changes { print(change.keys) }
/// ```
public final class UbiquitousKeyValueStore: Sendable {
    private let session: Mutex<StoreSession>
    /// Held while the session is closed or replaced; true once the store is closed.
    private let isClosed = Mutex(false)
    private let runtime: StoreRuntime
    private let delivery = ChangeDelivery()

    /// Opens the replica, creates it if it is missing, and connects in the background.
    ///
    /// Throws if the directory or its files cannot be used. Damaged files are quarantined and reported in
    /// `status.recoveryNotes`.
    public convenience init(configuration: StoreConfiguration) throws(StoreError) {
        try self.init(configuration: configuration, runtime: .system)
    }

    package init(configuration: StoreConfiguration, runtime: StoreRuntime) throws(StoreError) {
        let opened = try StoreSession(
            configuration: configuration, runtime: runtime, delivery: delivery)
        session = Mutex(opened)
        self.runtime = runtime
        delivery.setSource(self)
        try opened.connect()
    }

    deinit { close() }

    /// Flushes everything to disk, and ends the connection and all change streams. Later writes throw; closing again
    /// does nothing.
    public func close() {
        isClosed.withLock { isClosed in
            isClosed = true
            current.close()
            delivery.finish()
        }
    }

    /// The present configuration; another one after `changeAccount(to:)`.
    public var configuration: StoreConfiguration { current.configuration }

    private var current: StoreSession { session.withLock { $0 } }

    /// The session after an account change that is under way.
    private var settled: StoreSession { isClosed.withLock { _ in current } }

    private var replica: LocalReplica { current.replica }

    // MARK: - Accounts

    /// Switches to another account's replica: reads show its values, and a notification with reason 3 names the keys
    /// whose values differ. The former replica stays on disk, separately.
    ///
    /// A store without an account (no transport) carries its values over: keys that the account lacks are set there,
    /// keys that it has keep the account's values.
    ///
    /// Throws if the other replica cannot be opened, if the carried values exceed its quota, and `closed` after
    /// `close`; the store then stays as it was. If only connecting fails it throws too, with the new `configuration`
    /// in effect, and connects later by itself. Other calls may run concurrently; account changes are serialized.
    public func changeAccount(to configuration: StoreConfiguration) throws(StoreError) {
        try isClosed.withLock { (isClosed: inout Bool) throws(StoreError) in
            guard !isClosed else {
                throw StoreError(
                    .closed, operation: "change account", subject: "the store",
                    reason: "it is closed")
            }
            try replaceSession(configuration)
        }
    }

    private func replaceSession(_ configuration: StoreConfiguration) throws(StoreError) {
        let former = current
        let opened = try StoreSession(
            configuration: configuration, runtime: runtime, delivery: delivery)
        let keys: Set<StoreKey>
        do throws(StoreError) {
            // Atomic, so that a concurrent write is either carried over or made in the new replica, and what other
            // processes write there is notified either with the account change or after it.
            keys = try former.replica.close { before throws(StoreError) in
                if former.driver == nil, opened.driver != nil { try opened.replica.fill(before) }
                return opened.replica.read { replica in
                    session.withLock { $0 = opened }
                    let after = replica.visibleContents
                    return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
                }
            }
        } catch {
            opened.close()
            throw error
        }
        former.close()
        delivery.deliver(opened.replica.read(\.connection))
        if !keys.isEmpty {
            delivery.deliver(
                StoreChange(reason: .accountChange, keys: keys.sorted().map(\.text)))
        }
        try opened.connect()
    }

    // MARK: - Reading

    /// The value as a property list; nil for a missing key.
    public func value(forKey key: String) -> PropertyListValue? {
        let key = StoreKey(key)
        guard case .value(let data) = replica.read({ $0.table.content(forKey: key) }) else {
            return nil
        }
        // Another writer may have stored bytes that are not a property list.
        return try? PropertyListValue(encoded: data)
    }

    /// All keys that have a value, sorted by their UTF-8 bytes.
    public var keys: [String] {
        replica.read { replica in
            replica.table.entries.values
                .filter { !$0.record.content.isTombstone }
                .map(\.record.key)
        }.sorted().map(\.text)
    }

    /// A key's value as stored bytes with its stamp; nil for a missing key.
    public func record(forKey key: String) -> Record? {
        let key = StoreKey(key)
        return replica.read { replica in
            replica.table.content(forKey: key) == nil ? nil : replica.table[key]?.record
        }
    }

    // MARK: - Writing

    /// Sets a value, or removes the key with nil. On return the change is in the log and survives the process being
    /// killed; it survives power loss after `synchronize()`, or after 100 ms.
    public func write(_ value: PropertyListValue?, forKey key: String) throws(StoreError) {
        if let value, !value.isReadable {
            throw StoreError(
                .invalidValue, operation: "set", subject: "key \(key)",
                reason: "the value contains a non-finite date, or nests deeper than "
                    + "\(WireLimits.propertyListDepth) levels",
                hint: "encode it as Data first")
        }
        let content: Record.Content = value.map { .value($0.encoded()) } ?? .tombstone
        var session = current
        while true {
            do throws(StoreError) {
                return try session.replica.write(content, forKey: StoreKey(key))
            } catch {
                // The account may have changed since.
                let newest = current
                guard error.code == .closed, newest !== session else { throw error }
                session = newest
            }
        }
    }

    // MARK: - Synchronizing

    /// Flushes everything to disk and requests a round trip in the background.
    ///
    /// - Returns: false if the flush failed.
    @discardableResult
    public func synchronize() -> Bool {
        let session = settled
        do throws(StoreError) {
            try session.replica.flush()
        } catch {
            return false
        }
        if let driver = session.driver {
            driver.requestRound(session.replica)
        }
        return true
    }

    /// Flushes everything to disk, waits for a round trip and reports it. Throws `unreachable` as soon as the daemon
    /// turns out to be unreachable, and `cancelled` once the calling task is cancelled; pending keys are sent later.
    public func synchronizeNow() async throws(StoreError) -> SyncReport {
        while true {
            let session = settled
            do throws(StoreError) {
                return try await synchronize(session)
            } catch {
                // The account may have changed meanwhile.
                guard current !== session, error.code != .cancelled else { throw error }
            }
        }
    }

    private func synchronize(_ session: StoreSession) async throws(StoreError) -> SyncReport {
        try session.replica.flush()
        guard let driver = session.driver else {
            throw StoreError(
                .unauthorized, operation: "synchronize",
                subject: "store \(session.configuration.storeName)",
                reason: "no account has been joined")
        }
        return try await driver.synchronize(session.replica)
    }

    /// Flushes everything to disk without contacting the daemon.
    public func flush() throws(StoreError) { try replica.flush() }

    // MARK: - Watching

    /// Changes by other devices and processes. Each call returns a new stream, which starts now and ends with `close`. A
    /// slow reader gets the keys it missed in fewer, larger changes.
    public var changes: AsyncStream<StoreChange> {
        let feed = delivery.addFeed()
        return AsyncStream {
            await feed.next()
        }
    }

    /// Returns when everything so far has been delivered to observers and streams.
    package func drainDeliveries() async { await delivery.drain() }

    /// The present state of the connection, then every change. A slow reader gets only the newest.
    public var connectionChanges: AsyncStream<StoreStatus.Connection> {
        delivery.connectionStream()
    }

    /// The state of the connection, of synchronization and of the quota.
    public var status: StoreStatus {
        let session = current
        return session.replica.read { replica in
            StoreStatus(
                connection: replica.connection,
                initialSyncCompleted: replica.state.initialSyncCompleted,
                lastSyncMilliseconds: replica.state.lastSyncMilliseconds,
                pendingKeyCount: replica.table.pendingKeys.count,
                usedByteCount: replica.table.byteCount,
                usedKeyCount: replica.table.keyCount, limits: session.configuration.limits,
                replica: replica.id, recoveryNotes: session.replica.recoveryNotes)
        }
    }
}
