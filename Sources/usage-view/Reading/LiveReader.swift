import CommandSupport
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import Synchronization
import UsageState

/// Reads what the live viewer shows beside the usage: the keys of the store, the account, and which devices the daemon has
/// connections to.
///
/// Follows the joined account: when another one is joined, or this one is left, the store is opened for it.
final class LiveReader: Sendable {
    private struct State {
        var credentials: Credentials?
        var server = KnownDevices.notAsked
        /// What was seen of each key.
        var changes: [String: (count: Int, last: Date)] = [:]
    }

    private let reader: UsageReader
    private let environment: StoreEnvironment
    private let state: Mutex<State>

    /// More than a store has keys; beyond this counting begins again.
    private static let countedKeys = 4_096
    /// How often the credentials file is looked at.
    private static let accountInterval = Duration.seconds(5)
    /// The daemon is asked for its devices after that many of these intervals, and when the connection changes.
    private static let askingIntervals = 12

    init(_ reader: UsageReader, environment: StoreEnvironment = StoreEnvironment()) {
        self.reader = reader
        self.environment = environment
        state = Mutex(State(credentials: try? environment.credentials()))
    }

    /// What to show, now and after every change.
    func live() -> some AsyncSequence<LiveData, Never> & Sendable {
        let (notes, note) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // The streams start now, so that no change between the first look and the first event is missed.
        let (changes, connections) = (reader.store.changes, reader.store.connectionChanges)
        let task = Task { await self.follow(changes, connections) { note.yield() } }
        note.onTermination = { _ in task.cancel() }
        return UsageData.following(reader.store.connectionChanges, notes) { self.data }
    }

    private var data: LiveData {
        let (store, state) = (reader.store, state.withLock { $0 })
        let own = store.status.replica
        let keys = store.keys.compactMap { key -> LiveData.StoredKey? in
            guard let record = store.record(forKey: key), case .value(let bytes) = record.content
            else { return nil }
            let stamp = record.stamp
            return LiveData.StoredKey(
                key: key, bytes: bytes,
                setAt: Date(timeIntervalSince1970: Double(stamp.milliseconds) / 1_000),
                stamp: stamp.description, writer: stamp.replica.description,
                isOwn: stamp.replica == own, changeCount: state.changes[key]?.count ?? 0,
                changedAt: state.changes[key]?.last)
        }
        let usage = reader.data(isOnline: reader.isOnline)
        let start = Date().addingTimeInterval(-HistorySection.period)
        return LiveData(
            usage: usage,
            account: state.credentials.map(LiveData.Account.init), server: state.server,
            keys: keys, series: PlotSeries.all(of: usage.history, since: start))
    }

    /// Calls `note` after every change, until the task is cancelled.
    private func follow(
        _ changes: AsyncStream<StoreChange>, _ connections: AsyncStream<StoreStatus.Connection>,
        _ note: @escaping @Sendable () -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await change in changes {
                    let now = Date()
                    state.withLock { state in
                        if state.changes.count > Self.countedKeys { state.changes = [:] }
                        for key in change.keys {
                            state.changes[key, default: (0, now)].count += 1
                            state.changes[key]?.last = now
                        }
                    }
                    note()
                }
            }
            group.addTask { [self] in
                for await _ in connections {
                    await askForDevices()
                    note()
                }
            }
            group.addTask { [self] in
                var interval = 0
                while (try? await Task.sleep(for: Self.accountInterval)) != nil {
                    interval = (interval + 1) % Self.askingIntervals
                    let hasChanged = followAccount()
                    if hasChanged || interval == 0 {
                        await askForDevices()
                        note()
                    }
                }
            }
        }
    }

    /// Whether another account has been joined, or the account was left.
    private func followAccount() -> Bool {
        let former = state.withLock(\.credentials)
        guard environment.hasAnotherAccount(than: former),
            let credentials = try? Optional(environment.credentials())
        else { return false }
        var configuration = environment.configuration(
            of: credentials, storeNamed: reader.store.configuration.storeName)
        configuration.isWatched = true
        guard (try? reader.store.changeAccount(to: configuration)) != nil else { return false }
        state.withLock { $0 = State(credentials: credentials) }
        return true
    }

    private func askForDevices() async {
        let credentials = state.withLock(\.credentials)
        var server = KnownDevices.unreachable
        if let credentials, let devices = await Self.devices(credentials) {
            server = .known(devices)
        }
        state.withLock { state in
            // An answer about a former account says nothing.
            if state.credentials == credentials { state.server = server }
        }
    }

    private static func devices(_ credentials: Credentials) async -> [KnownDevice]? {
        let client = DaemonClient(credentials, timeouts: HTTPTimeouts(request: .seconds(10)))
        defer { client.close() }
        return try? await client.devices().map { device in
            KnownDevice(
                id: device.deviceID, name: device.device, isConnected: device.connected,
                lastSeen: device.lastSeen.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
                mayWrite: device.scopes.contains("write"), isPage: device.page ?? false)
        }
    }
}

extension LiveData.Account {
    fileprivate init(_ credentials: Credentials) {
        self.init(
            name: credentials.account, daemon: credentials.daemon.description,
            device: credentials.deviceName, isFromEnvironment: credentials.isFromEnvironment)
    }
}
