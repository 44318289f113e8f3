import Foundation
import Synchronization

/// A key-value store whose values reach every device of an account.
///
/// It has the members of Apple's `NSUbiquitousKeyValueStore`, with the same names and results. Reads come
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
    /// Held while the session is ended or becomes another; true once the store is closed.
    private let isClosed = Mutex(false)
    private let runtime: StoreRuntime
    private let announcements = Announcements()

    /// Opens the replica, which is made where it is missing, and connects in the background.
    ///
    /// Throws where the folder or its files cannot be used. Damaged files are set aside and told in
    /// `status.recoveryNotes`.
    public convenience init(configuration: StoreConfiguration) throws(StoreError) {
        try self.init(configuration: configuration, runtime: .system)
    }

    package init(configuration: StoreConfiguration, runtime: StoreRuntime) throws(StoreError) {
        let opened = try StoreSession(
            configuration: configuration, runtime: runtime, announcements: announcements)
        session = Mutex(opened)
        self.runtime = runtime
        announcements.setSource(self)
        try opened.connect()
    }

    deinit { close() }

    /// Writes everything to disk, ends the connection and the streams of changes. Later writes throw; calling it
    /// again does nothing.
    public func close() {
        isClosed.withLock { isClosed in
            isClosed = true
            current.close()
            announcements.finish()
        }
    }

    /// How the store is opened now.
    public var configuration: StoreConfiguration { current.configuration }

    private var current: StoreSession { session.withLock { $0 } }

    /// The session when no change of the account is under way.
    private var settled: StoreSession { isClosed.withLock { _ in current } }

    private var replica: LocalReplica { current.replica }

    // MARK: - Accounts

    /// Goes on with another account's replica: reads show its values, and a notification with reason 3
    /// names the keys that look different now. The former replica stays on disk, apart.
    ///
    /// A store that had no account (no transport) takes its values along: a key that the account does not
    /// have is set there, and a key that it has keeps the account's value.
    ///
    /// Throws where the other replica cannot be opened, where the values to be taken along do not fit into it, and
    /// `closed` after `close`; store and replica then stay as they are. Where only connecting fails (`configuration` is
    /// the new one then), it throws too, and connects later by itself. Other calls may be made at the same time, and a
    /// second change waits for the first.
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
            configuration: configuration, runtime: runtime, announcements: announcements)
        let keys: Set<String>
        do throws(StoreError) {
            // In one step, so that a write at this moment is either taken along or made in the new replica, and what
            // others write into that is told either with the account or after it.
            keys = try former.replica.close { before throws(StoreError) in
                if former.driver == nil, opened.driver != nil { try opened.replica.add(before) }
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
        announcements.announce(opened.replica.read(\.status).connection)
        if !keys.isEmpty {
            announcements.announce(StoreChange(reason: .accountChange, keys: keys.sorted()))
        }
        try opened.connect()
    }

    // MARK: - Reading

    /// The value as a property list; nil for a missing key.
    public func value(forKey key: String) -> PropertyListValue? {
        guard case .value(let data) = replica.read({ $0.table.content(forKey: key) }) else {
            return nil
        }
        // Bytes that another writer stored and that are not a property list are no value.
        return try? PropertyListValue(encoded: data)
    }

    /// All keys that have a value, sorted.
    public var keys: [String] {
        replica.read { replica in
            replica.table.entries.values
                .filter { !$0.record.content.isTombstone }
                .map(\.record.key)
        }.sorted()
    }

    /// The size of a key's value in bytes, and when it was written; nil for a missing key.
    public func record(forKey key: String) -> Record? {
        replica.read { replica in
            replica.table.content(forKey: key) == nil ? nil : replica.table[key]?.record
        }
    }

    // MARK: - Writing

    /// Sets a value, or removes the key with nil. On return the change is in the log: a killed process
    /// does not lose it; `synchronize` or 100 ms make it safe from a power failure.
    public func write(_ value: PropertyListValue?, forKey key: String) throws(StoreError) {
        if let value, !value.isReadable {
            throw StoreError(
                .invalidValue, operation: "set", subject: "key \(key)",
                reason: "it holds a date that is no moment, or is nested more than "
                    + "\(WireLimits.propertyListDepth) levels deep",
                hint: "encode it as Data first")
        }
        let content: Record.Content = value.map { .value($0.encoded()) } ?? .tombstone
        var session = current
        while true {
            do throws(StoreError) {
                return try session.replica.write(content, forKey: key)
            } catch {
                // The account may have changed since the session was asked for.
                let newest = current
                guard error.code == .closed, newest !== session else { throw error }
                session = newest
            }
        }
    }

    // MARK: - Synchronizing

    /// Writes everything to disk and asks for a round trip in the background.
    ///
    /// - Returns: false when the disk could not be written to.
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

    /// Writes everything to disk, makes a whole round trip and reports it. Throws `unreachable` at once
    /// when the daemon is not there; pending keys are then sent later.
    public func synchronizeNow() async throws(StoreError) -> SyncReport {
        while true {
            let session = settled
            do throws(StoreError) {
                return try await synchronize(session)
            } catch {
                // The account may have changed meanwhile.
                guard current !== session else { throw error }
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

    /// Writes everything to disk without talking to the daemon.
    public func flush() throws(StoreError) { try replica.flush() }

    // MARK: - Watching

    /// Changes from other devices and processes. Each call gives a stream of its own, which starts now and ends
    /// with `close`. A slow reader gets the keys it missed in fewer, larger changes.
    public var changes: AsyncStream<StoreChange> {
        let feed = announcements.addFeed()
        return AsyncStream {
            await feed.next()
        }
    }

    /// Returns when observers have been called for everything that has happened so far, and the streams have it.
    package func drainAnnouncements() async { await announcements.drain() }

    /// The state of the connection, first as it is now and then whenever it changes. A slow reader gets
    /// only the newest.
    public var connectionChanges: AsyncStream<StoreStatus.Connection> {
        announcements.connectionStream()
    }

    public var status: StoreStatus {
        let session = current
        return session.replica.read { replica in
            let (connection, pendingKeyCount) = replica.status
            return StoreStatus(
                connection: connection, initialSyncCompleted: replica.state.initialSyncCompleted,
                lastSyncMilliseconds: replica.state.lastSyncMilliseconds,
                pendingKeyCount: pendingKeyCount, usedByteCount: replica.table.byteCount,
                usedKeyCount: replica.table.keyCount, limits: session.configuration.limits,
                replica: replica.id, recoveryNotes: session.replica.recoveryNotes)
        }
    }
}
