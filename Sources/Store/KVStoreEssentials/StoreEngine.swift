import KVStoreCore
import Synchronization

/// An open store, which one or more `UbiquitousKeyValueStore` objects share.
final class StoreEngine: Sendable {
    private let session: Mutex<StoreSession>
    /// Held while the session is closed or replaced; true once the store is closed.
    private let isClosed = Mutex(false)
    private let runtime: StoreRuntime
    private let delivery: ChangeDelivery

    init(configuration: StoreConfiguration, runtime: StoreRuntime) throws(StoreError) {
        let delivery = ChangeDelivery(post: runtime.post)
        let opened = try StoreSession(configuration: configuration, runtime: runtime, delivery: delivery)
        self.delivery = delivery
        session = Mutex(opened)
        self.runtime = runtime
        // As for a later session: its account may change at once.
        try isClosed.withLock { _ throws(StoreError) in try connect(opened) }
    }

    deinit { close() }

    /// Makes the object one that notifications come from, for as long as it lives.
    func attach(_ object: UbiquitousKeyValueStore) { delivery.attach(object) }

    func detach(_ object: UbiquitousKeyValueStore) { delivery.detach(object) }

    func close() {
        isClosed.withLock { isClosed in
            isClosed = true
            current.close()
            delivery.finish()
        }
    }

    var configuration: StoreConfiguration { current.configuration }

    private var current: StoreSession { session.withLock { $0 } }

    /// The session after an account change that is under way.
    private var settled: StoreSession { isClosed.withLock { _ in current } }

    private var replica: LocalReplica { current.replica }

    // MARK: - Accounts

    func changeAccount(to configuration: StoreConfiguration) throws(StoreError) {
        try isClosed.withLock { (isClosed: inout Bool) throws(StoreError) in
            guard !isClosed else {
                throw StoreError(.closed, operation: "change account", subject: "the store", reason: "it is closed")
            }
            guard configuration.openSimulated == nil || runtime.isSimulated else {
                throw StoreError(
                    .invalidValue, operation: "change account", subject: "the store",
                    reason: "the configuration is that of a simulated device", hint: "open a store with it instead")
            }
            try replaceSession(configuration)
        }
    }

    private func connect(_ session: StoreSession) throws(StoreError) {
        try session.connect { [weak self] configuration, former in
            guard let self else { return .refused }
            return self.isClosed.withLock { isClosed in
                guard !isClosed, self.current === former else { return .refused }
                if (try? self.replaceSession(configuration)) != nil { return .changed }  // tried without values below
                // The former values may not fit. A replica that cannot be opened is tried again with the next request.
                let isChanged = (try? self.replaceSession(configuration, bringsValues: false)) != nil
                return isChanged ? .changedWithoutValues : .refused
            }
        }
    }

    /// - Parameter bringsValues: whether an account gets what it lacks of the values of a store without an account.
    private func replaceSession(_ configuration: StoreConfiguration, bringsValues: Bool = true) throws(StoreError) {
        let former = current
        let opened = try StoreSession(configuration: configuration, runtime: runtime, delivery: delivery)
        configuration.willTakePlace?()
        let keys: Set<StoreKey>
        do throws(StoreError) {
            // Atomic, so that a concurrent write is either carried over or made in the new replica, and what other
            // processes write there is notified either with the account change or after it.
            keys = try former.replica.close { before throws(StoreError) in
                if bringsValues, former.isLocal, !opened.isLocal {
                    try opened.replica.fill(before)
                    try opened.replica.flush()
                }
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
        delivery.beginAccount()
        // Unless connecting does.
        defer { opened.replica.read { delivery.deliver($0.connection) } }
        let isOtherAccount =
            former.configuration.directory != configuration.directory || former.isLocal != opened.isLocal
        if isOtherAccount { delivery.deliverIdentityChange() }
        // Also if no value differs: an app may show more of an account than its values.
        if isOtherAccount || !keys.isEmpty {
            let named = configuration.accountChangeNamesKeys ? keys.sorted().map(\.text) : []
            delivery.deliver(StoreChange(reason: .accountChange, keys: named))
        }
        try connect(opened)
    }

    // MARK: - Reading

    func propertyList(forKey key: String) -> PropertyListValue? {
        let key = StoreKey(key)
        guard case .value(let data) = replica.read({ $0.table.content(forKey: key) }) else {
            return nil
        }
        // Another writer may have stored bytes that are not a property list.
        return try? PropertyListValue(encoded: data)
    }

    var keys: [String] {
        replica.read { replica in
            replica.table.entries.values
                .filter { !$0.record.content.isTombstone }
                .map(\.record.key)
        }.sorted().map(\.text)
    }

    func record(forKey key: String) -> StoreRecord? {
        let key = StoreKey(key)
        return replica.read { replica in
            replica.table.content(forKey: key) == nil ? nil : replica.table[key]?.record
        }
    }

    // MARK: - Writing

    func write(_ values: [StoreKey: PropertyListValue?]) throws(StoreError) {
        if let (key, obstacle) = values.compactMapValues({ $0?.obstacle }).min(by: { $0.key < $1.key }) {
            throw StoreError(obstacle, key: key.text)
        }
        let contents = values.mapValues { $0.map { StoreRecord.Content.value($0.encoded()) } ?? .tombstone }
        var session = current
        while true {
            do throws(StoreError) {
                return try session.replica.write(contents)
            } catch {
                // The account may have changed since.
                let newest = current
                guard error.code == .closed, newest !== session else { throw error }
                session = newest
            }
        }
    }

    // MARK: - Synchronizing

    /// Returns whether everything is on disk and the store is open.
    func synchronize() -> Bool {
        let (session, isClosed) = isClosed.withLock { (current, $0) }
        guard !isClosed, (try? session.replica.flush()) != nil else { return false }  // reported as false
        if let driver = session.driver {
            driver.requestRound(session.replica)
        }
        return true
    }

    func synchronizeNow(onlySends: Bool) async throws(StoreError) -> SyncReport {
        while true {
            let session = settled
            do throws(StoreError) {
                return try await synchronize(session, onlySends: onlySends)
            } catch {
                // The account may have changed meanwhile.
                guard current !== session, error.code != .cancelled else { throw error }
            }
        }
    }

    private func synchronize(_ session: StoreSession, onlySends: Bool) async throws(StoreError) -> SyncReport {
        try session.replica.flush()
        guard let driver = session.driver else {
            throw StoreError(
                .unauthorized, operation: "synchronize", subject: "store \(session.configuration.storeName)",
                reason: "no account has been joined")
        }
        return try await driver.synchronize(session.replica, onlySends: onlySends)
    }

    func flush() throws(StoreError) { try replica.flush() }

    func refresh() throws(StoreError) { try replica.catchUp() }

    // MARK: - Watching

    var changes: AsyncStream<StoreChange> {
        let feed = delivery.addFeed()
        return AsyncStream {
            await feed.next()
        }
    }

    /// Returns when observers have been called with everything so far.
    func drainDeliveries() async { await delivery.drain() }

    var connectionChanges: AsyncStream<StoreStatus.Connection> {
        delivery.connectionStream()
    }

    var status: StoreStatus {
        let session = current
        return session.replica.read { replica in
            StoreStatus(
                connection: replica.connection, initialSyncCompleted: replica.state.initialSyncCompleted,
                lastSyncMilliseconds: replica.state.lastSyncMilliseconds,
                pendingKeyCount: replica.table.pendingKeys.count, refusedKeys: replica.refusedKeys.map(\.text),
                refusal: replica.refusal, usedByteCount: replica.table.byteCount,
                usedKeyCount: replica.table.keyCount, limits: session.configuration.limits, replica: replica.id,
                recoveryNotes: session.replica.recoveryNotes)
        }
    }
}
