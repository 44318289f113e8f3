import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import Synchronization
import UsageState

/// Reads what the live viewer shows beside the usage: the keys of the store, the account, and which devices the daemon
/// has connections to.
///
/// All of the account that the store belongs to, which changes when another one is joined or this one is left.
final class LiveReader: Sendable {
    private struct State {
        /// What the daemon answered last, and with which credentials it was asked.
        var answer: (to: Credentials?, devices: KnownDevices) = (nil, .notAsked)
        /// What was seen of each key.
        var changes: [String: (count: Int, last: Date)] = [:]
    }

    private let reader: UsageReader
    private let state = Mutex(State())

    /// More than a store has keys; beyond this counting begins again.
    private static let countedKeys = 4_096
    /// The daemon is asked for its devices after that time, and when the connection changes.
    private static let askingInterval = Duration.seconds(60)
    /// From one attempt to reach a lost daemon to the next.
    private static let retryInterval = Duration.seconds(2)

    init(_ reader: UsageReader) { self.reader = reader }

    private var credentials: Credentials? { reader.store.configuration.credentials }

    /// What to show, now and after every change.
    func live() -> some AsyncSequence<LiveData, Never> & Sendable {
        let (updates, update) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        // The streams start now, so that no change between the first look and the first event is missed.
        let (changes, connections) = (reader.store.changes, reader.store.connectionChanges)
        let task = Task { await self.follow(changes, connections) { update.yield() } }
        update.onTermination = { _ in task.cancel() }
        return UsageData.following(reader.store.connectionChanges, updates) { self.data }
    }

    private var data: LiveData {
        let (store, credentials) = (reader.store, credentials)
        let state = state.withLock { $0 }
        let own = store.status.replica
        let keys = store.keys.compactMap { key -> LiveData.StoredKey? in
            guard let record = store.record(forKey: key), case .value(let bytes) = record.content else { return nil }
            let stamp = record.stamp
            return LiveData.StoredKey(
                key: key, bytes: bytes, setAt: Date(timeIntervalSince1970: Double(stamp.milliseconds) / 1_000),
                stamp: stamp.description, writer: stamp.replica.description, isOwn: stamp.replica == own,
                changeCount: state.changes[key]?.count ?? 0, changedAt: state.changes[key]?.last)
        }
        var usage = reader.data(isOnline: reader.isOnline)
        let start = Date().addingTimeInterval(-HistorySection.period)
        // An answer about a former account says nothing.
        let server = state.answer.to == credentials ? state.answer.devices : .notAsked
        usage.known = server
        var data = LiveData(
            usage: usage, account: credentials.map { LiveData.Account($0, named: server.nameOfThis) }, server: server,
            keys: keys, series: PlotSeries.all(of: usage.history, since: start))
        data.nameWriters()
        return data
    }

    /// Calls `notify` after every change, until the task is cancelled.
    private func follow(
        _ changes: AsyncStream<StoreChange>, _ connections: AsyncStream<StoreStatus.Connection>,
        _ notify: @escaping @Sendable () -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await change in changes {
                    let now = Date()
                    state.withLock { state in
                        if change.reason == .accountChange { return state.changes = [:] }
                        if state.changes.count > Self.countedKeys { state.changes = [:] }
                        for key in change.keys {
                            state.changes[key, default: (0, now)].count += 1
                            state.changes[key]?.last = now
                        }
                    }
                    notify()
                }
            }
            group.addTask { [self] in
                for await _ in connections {
                    await askForDevices()
                    notify()
                }
            }
            group.addTask { [self] in
                // As long as a person looks on, a daemon that is back is noticed soon.
                while (try? await Task.sleep(for: Self.retryInterval)) != nil {  // Until it is cancelled.
                    guard case .offline = reader.store.status.connection else { continue }
                    _ = await reader.synchronize(within: 10)
                }
            }
            group.addTask { [self] in
                while (try? await Task.sleep(for: Self.askingInterval)) != nil {  // Until it is cancelled.
                    await askForDevices()
                    notify()
                }
            }
        }
    }

    private func askForDevices() async {
        let credentials = credentials
        let devices = await reader.devices(within: .seconds(10))
        state.withLock { $0.answer = (credentials, devices) }
    }
}

extension LiveData.Account {
    /// - Parameter device: the name that the daemon has for this machine by now.
    fileprivate init(_ credentials: Credentials, named device: String?) {
        self.init(
            name: credentials.account, daemon: credentials.daemon.description, device: device ?? credentials.deviceName,
            isFromEnvironment: credentials.isFromEnvironment)
    }
}

extension KnownDevices {
    fileprivate var nameOfThis: String? { devices.first(where: \.isThis)?.name }
}
