import Commands
import Essentials
import KVStoreEssentials
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
            case .local: ", on this machine only (to share it: ubq up, or ubq join LINE)"
            case .delivered, .refused: ""
            case .waiting(let reason): ", stored locally until the daemon is reachable: \(reason)"
            }
        }
    }

    let store: UbiquitousKeyValueStore
    /// The credentials that the store was opened with; nil without an account.
    let credentials: Credentials?
    /// This device's; nil without an id.
    private let historyKey: String?
    private let environment: StoreEnvironment
    private let accountDevices: AccountDevices?
    private let recorder: Mutex<HistoryRecorder>

    /// Other devices whose snapshots are merged.
    private static let deviceLimit = 64
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
                timeouts: isLive ? HTTPTimeouts() : StoreEnvironment.briefTimeouts))
        historyKey = deviceID.map(UsageHistory.storeKey)
        accountDevices = credentials.map { AccountDevices(environment: environment, $0) }
        recorder = Mutex(HistoryRecorder(stored: historyKey.flatMap { [store] in store.data(forKey: $0) }))
        for note in store.status.recoveryNotes { Console.report(note) }
    }

    /// With what is due of this device's history, which makes room in a full store. What of it could not be written is
    /// in the next value.
    func put(_ values: [String: Data], of snapshot: SyncedUsageSnapshot) throws {
        var values = values.mapValues { PropertyListValue?.some(.data($0)) }
        guard let historyKey else { return try store.write(values) }
        var next = recorder.withLock { $0 }
        let (status, stored) = (store.status, store.data(forKey: historyKey))
        let room = status.limits.totalByteCount / 4 * 3 - (status.usedByteCount - (stored?.count ?? 0))
        let history = next.record(snapshot, byteLimit: room).flatMap { $0.count <= room ? $0 : nil }
        if let history { values[historyKey] = .data(history) }
        do throws(StoreError) {
            try store.write(values)
        } catch {
            let makesRoom = error.code == .quotaExceeded && (history != nil || stored != nil)
            guard makesRoom else { throw error }
            values[historyKey] = .some(nil)
            try store.write(values)
        }
        recorder.withLock { $0 = next }
    }

    func otherDeviceSnapshots() throws -> [Data] {
        let listed = listedDevices
        return store.keys.filter { $0.hasPrefix(SyncedUsageSnapshot.storeKey + ".") }
            .prefix(Self.deviceLimit).compactMap { store.data(forKey: $0) }
            .filter { data in
                // What cannot be read is no reason to forget a device.
                guard let listed, let snapshot = try? SnapshotCodec.decodeWithoutCosts(data) else { return true }
                return !listed.hasRemoved(snapshot)
            }
    }

    /// Those that are set in the account.
    var budgets: [Budget] { Budget.all(in: store.data(where: Budget.isKey)) }
    var projects: ProjectRules { ProjectRules(stored: store.data(where: ProjectRules.isKey)) }

    /// The stored one.
    var year: UsageYear? { store.data(forKey: UsageYear.storeKey).flatMap(UsageYear.init(stored:)) }

    /// Stores what all machines used; in a full store the former value stays.
    func put(_ year: UsageYear) {
        try? store.write([UsageYear.storeKey: .data(year.data)])  // As described.
    }

    /// Whether the daemon rejects this machine.
    var isRemoved: Bool { environment.isRemoved(credentials) }

    /// The devices of the account, as the daemon has listed them last; nil without an account.
    var listedDevices: ListedDevices? {
        accountDevices?.lastAnswer.map { ListedDevices($0.devices, listedAt: $0.received) }
    }

    /// Asks the daemon which devices there are, after each connection and then every five minutes, until the task is
    /// cancelled.
    ///
    /// - Parameter isAsked: called each time after that.
    func followDevices(isAsked: @escaping @Sendable () -> Void) async {
        let connections = store.connectionChanges
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await connection in connections where connection == .connected {
                    await askForDevices()
                    isAsked()
                }
            }
            group.addTask { [self] in
                // Until it is cancelled.
                while (try? await Task.sleep(for: Self.askingInterval)) != nil {
                    await askForDevices()
                    isAsked()
                }
            }
        }
    }

    /// What it said last stays if it does not respond, or lists no devices for this one.
    func askForDevices() async {
        guard let credentials, let accountDevices else { return }
        let client = DaemonClient(credentials, environment: environment, timeouts: StoreEnvironment.briefTimeouts)
        defer { client.close() }
        _ = try? await accountDevices.ask(client)  // As described.
    }

    /// Receives what other devices have pushed.
    func synchronize() async -> Delivery { await deliver { () throws(StoreError) in try await store.synchronizeNow() } }

    /// Sends what has been put.
    func send() async -> Delivery {
        await deliver { () throws(StoreError) in try await store.sendNow(within: StoreEnvironment.briefTimeouts.request)
        }
    }

    private func deliver(_ exchange: () async throws(StoreError) -> SyncReport) async -> Delivery {
        guard credentials != nil else { return .local }
        do throws(StoreError) {
            let report = try await exchange()
            return report.pendingKeyCount == 0 ? .delivered : .waiting(report.refusal ?? "the daemon is out of space")
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
