import ClockZones
import Essentials
import KVStoreEssentials
import SnapshotModels
import UsageState

/// A store as far as alerts need one. Safe from any thread.
protocol AlertStore: Sendable {
    var link: UsageData.Link { get }
    /// Those of the account, as the daemon has listed them; nil if it has not.
    var devices: ListedDevices? { get }
    func values(where isIncluded: (String) -> Bool) -> [String: Data]
    func write(_ notice: AlertNotice, deviceID: String) throws
}

extension AlertStore {
    func input(at now: Date, zone: ClockZone, uptime: Double) -> AlertWatch.Input {
        AlertWatch.Input(
            values: values(where: AlertWatch.Input.isKey), link: link, now: now, zone: zone, uptime: uptime,
            devices: devices)
    }

    /// By device id.
    var notices: [String: AlertNotice] { AlertNotice.notices(in: values { $0.hasPrefix(AlertNotice.keyPrefix) }) }
}

/// The user's store.
struct UserAlertStore: AlertStore {
    let store: UbiquitousKeyValueStore
    /// See `devices`.
    let listed: @Sendable () -> ListedDevices?
    /// Whether the daemon rejects this machine.
    let isRemoved: @Sendable () -> Bool

    var devices: ListedDevices? { listed() }

    var link: UsageData.Link {
        if isRemoved() { return .removed }
        return switch store.status.connection {
        case .connected, .idle: .online
        case .local: .notJoined
        case .offline: .offline(lastSeen: nil)
        }
    }

    func values(where isIncluded: (String) -> Bool) -> [String: Data] { store.data(where: isIncluded) }

    func write(_ notice: AlertNotice, deviceID: String) throws {
        try store.write(.data(notice.data), forKey: AlertNotice.storeKey(deviceID: deviceID))
    }

    /// An element whenever something has changed that alerts depend on.
    var changes: AsyncStream<Void> {
        let (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (connections, changes) = (store.connectionChanges, store.changes)
        let following = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in connections { trigger.yield() } }
                group.addTask {
                    for await change in changes
                    where change.keys.contains(where: { $0.hasPrefix(AlertNotice.sharedPrefix) }) { trigger.yield() }
                }
            }
            trigger.finish()
        }
        trigger.onTermination = { _ in following.cancel() }
        return triggers
    }
}
