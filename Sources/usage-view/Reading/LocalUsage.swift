import Essentials
import KVStoreEssentials
import KVStoreHTTP
import SnapshotModels
import UsageState

/// What this machine has, without the network and without costs: for lines that are made often and must be there at
/// once.
struct LocalUsage: Sendable {
    let storeName: String
    /// Whether the history is read, from which the pace learns.
    var includesHistory = false

    /// The daemon counts as reached for this long after its last answer, in seconds.
    private static let onlineAge: TimeInterval = 300

    /// Creates, repairs and waits for nothing. What cannot be read is in the result, as `unreadable`.
    func read(now: Date = Date()) -> UsageData {
        let environment = StoreEnvironment()
        do throws(StoreError) {
            let credentials = try environment.credentials()
            let directory = environment.replicaDirectory(storeNamed: storeName, credentials: credentials)
            let reading = try ReplicaReading(directory: directory) { isWanted($0) }
            return data(reading.values, credentials, lastSyncMilliseconds: reading.lastSyncMilliseconds, now: now)
        } catch {
            return UsageData(link: .notJoined, stored: .unreadable(reason: error.description))
        }
    }

    /// Opens the store to follow what other programs write.
    func open() throws(StoreError) -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: StoreEnvironment().configuration(storeNamed: storeName, isOnline: false))
    }

    /// The state now and after every change.
    func live(_ store: UbiquitousKeyValueStore) -> some AsyncSequence<UsageData, Never> & Sendable {
        let environment = StoreEnvironment()
        // A removed device writes nothing into its replica.
        let removals = (try? environment.credentials()).flatMap(environment.removal)?.changes
        return UsageData.following(store.connectionChanges, store.changes, removals ?? AsyncStream { $0.finish() }) {
            data(
                store.data(where: isWanted), try? StoreEnvironment().credentials(),  // Unusable ones are none here.
                lastSyncMilliseconds: store.status.lastSyncMilliseconds, now: Date())
        }
    }

    private func isWanted(_ key: String) -> Bool {
        includesHistory ? UsageData.isKey(key) : key.hasPrefix(SyncedUsageSnapshot.storeKey) || Budget.isKey(key)
    }

    private func data(
        _ values: [String: Data], _ credentials: Credentials?, lastSyncMilliseconds: Int64?, now: Date
    ) -> UsageData {
        let lastSync = lastSyncMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        let isOnline = lastSync.map { now.timeIntervalSince($0) < Self.onlineAge } ?? false
        let link: UsageData.Link =
            credentials == nil
            ? .notJoined
            : StoreEnvironment().isRemoved(credentials) ? .removed : isOnline ? .online : .offline(lastSeen: lastSync)
        return StoredUsage(values: values, decode: SnapshotCodec.decodeWithoutCosts)
            .data(link: link, at: now, devices: credentials.flatMap { AccountDevices($0).lastListed })
    }
}
