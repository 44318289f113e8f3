import Commands
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels
import Synchronization
import UsagePusher
import UsageState

/// The user's store as the sink of a pusher.
///
/// What is put is durable locally before the call returns. A live store syncs it at once, another
/// one in `synchronize`.
final class StoreSink: SnapshotSink {
    enum Delivery: Sendable {
        /// No account has been joined: the snapshot stays on this machine.
        case local
        case delivered
        /// The daemon did not answer, or is out of space; it receives the snapshot later.
        case waiting(String)
        /// The daemon rejects this machine.
        case refused(StoreError)

        /// Completes the line about a push.
        var remark: String {
            switch self {
            case .local: ", on this machine only (to share it, run: kvs join)"
            case .delivered, .refused: ""
            case .waiting(let reason): ", stored locally until the daemon is reachable: \(reason)"
            }
        }
    }

    let store: UbiquitousKeyValueStore
    /// The credentials that the store was opened with; nil without an account.
    let credentials: Credentials?
    /// Of this device; nil without an id.
    private let historyKey: String?
    private let environment: StoreEnvironment
    private let accountDevices: AccountDevices?
    private let recorder: Mutex<HistoryRecorder>

    /// Other devices whose snapshots are merged.
    private static let deviceLimit = 64
    /// A single push does not keep the user waiting.
    private static let timeouts = HTTPTimeouts(connect: .seconds(3), request: .seconds(10))
    private static let askingInterval = Duration.seconds(300)

    /// Opens the store; repairs are reported on standard error.
    ///
    /// - Parameter deviceID: whose history is recorded; none without.
    init(environment: StoreEnvironment, storeName: String, deviceID: String?, isLive: Bool) throws(StoreError) {
        self.environment = environment
        credentials = try environment.credentials()
        store = try UbiquitousKeyValueStore(
            configuration: environment.configuration(
                of: credentials, storeNamed: storeName, isLive: isLive,
                timeouts: isLive ? HTTPTimeouts() : Self.timeouts))
        historyKey = deviceID.map(UsageHistory.storeKey)
        accountDevices = credentials.map { AccountDevices(environment: environment, $0) }
        recorder = Mutex(HistoryRecorder(stored: historyKey.flatMap { [store] in store.data(forKey: $0) }))
        for note in store.status.recoveryNotes { Console.report(note) }
    }

    /// In a full store this device's history makes room.
    func put(_ data: Data, forKey key: String) throws {
        do {
            try store.write(.data(data), forKey: key)
        } catch  where error.code == .quotaExceeded {
            guard let historyKey, let history = store.data(forKey: historyKey) else { throw error }
            try store.write(nil, forKey: historyKey)
            do {
                try store.write(.data(data), forKey: key)
            } catch {
                // It was not enough.
                try? store.write(.data(history), forKey: historyKey)
                throw error
            }
        }
    }

    func otherDeviceSnapshots() throws -> [Data] {
        let listed = listedDevices
        return store.keys.filter { $0.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .prefix(Self.deviceLimit).compactMap { store.data(forKey: $0) }
            .filter { data in
                guard let listed, let snapshot = try? SnapshotCodec.decodeWithoutCosts(data) else { return true }
                return !listed.hasRemoved(snapshot)
            }
    }

    /// Whether the daemon rejects this machine.
    var isRemoved: Bool { environment.isRemoved(credentials) }

    /// The devices of the account, as the daemon has listed them last; nil without an account.
    var listedDevices: ListedDevices? {
        accountDevices?.lastAnswer.map { ListedDevices($0.devices, listedAt: $0.received) }
    }

    /// Asks the daemon which devices there are, after each connection and then every five minutes, until the task is
    /// cancelled.
    func followDevices() async {
        let connections = store.connectionChanges
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await connection in connections where connection == .connected {
                    await askForDevices()
                }
            }
            group.addTask { [self] in
                while (try? await Task.sleep(for: Self.askingInterval)) != nil {
                    await askForDevices()
                }
            }
        }
    }

    /// What it said last stays if it does not respond, or lists no devices for this one.
    func askForDevices() async {
        guard let credentials, let accountDevices else { return }
        let client = DaemonClient(credentials, environment: environment, timeouts: Self.timeouts)
        defer { client.close() }
        _ = try? await accountDevices.ask(client)
    }

    /// Adds a pushed snapshot to this device's history, and writes that if it is due. Never an error: what could not be
    /// written is in the next value.
    func record(_ snapshot: SyncedUsageSnapshot) {
        guard let historyKey else { return }
        let (status, own) = (store.status, store.data(forKey: historyKey)?.count ?? 0)
        let room = status.limits.totalByteCount / 4 * 3 - (status.usedByteCount - own)
        let value = recorder.withLock { $0.record(snapshot, byteLimit: room) }
        guard let value, value.count <= room else { return }
        try? store.write(.data(value), forKey: historyKey)
    }

    /// Exchanges changes with the daemon once.
    func synchronize() async -> Delivery {
        guard credentials != nil else { return .local }
        do throws(StoreError) {
            let report = try await store.synchronizeNow()
            return report.pendingKeyCount == 0 ? .delivered : .waiting("the daemon is out of space")
        } catch {
            switch error.code {
            case .unauthorized, .refused: return .refused(error)
            default: return .waiting(error.reason)
            }
        }
    }

    /// Flushes everything and disconnects.
    func close() { store.close() }
}
