import ClockZones
import Foundation
import KVStoreWire
import SnapshotModels
@testable import UsageState

/// The store of an account with three machines: "desk", which pushes the daemon's id; "attic", which does not, but has
/// the host's name; and one that the daemon has removed.
struct SeveralMachines {
    static let now = Date(timeIntervalSince1970: 1_789_732_800)
    /// What no screen may show where the daemon has been asked: hosts, and what only the removed machine knows.
    static let hosts = ["ip-10-0-0-7", "attic.lan"]
    static let removed = ["ip-10-0-0-9", "gone@example.test", "77"]

    var values: [String: Data] = [:]
    var listedAt = now

    init() throws {
        try push("a", host: "ip-10-0-0-7", daemonID: "1", account: "dev@example.test", 42)
        try push("b", host: "attic.lan", daemonID: nil, account: "dev@example.test", 41)
        try push("c", host: "ip-10-0-0-9", daemonID: "9", account: "gone@example.test", 77)
        let own = values.values.compactMap { SnapshotCodec.read($0) }
        values[SyncedUsageSnapshot.storeKey] = try SharedView.encode(own, now: Self.now)
    }

    var listed: ListedDevices {
        let devices = [("1", "desk"), ("2", "attic"), ("3", "phone")].map { id, name in
            DaemonDevice(
                deviceID: id, device: name, scopes: ["read", "write"], created: 0, lastSeen: nil, connected: id == "1")
        }
        return ListedDevices(devices, listedAt: listedAt)
    }

    func data(_ listed: ListedDevices?) -> UsageData {
        UsageData(link: .online, values: values, now: Self.now, devices: listed)
    }

    func model(_ listed: ListedDevices?) -> ViewModel {
        ViewModel(data: data(listed), now: Self.now, zone: .fixed(secondsFromGMT: 0))
    }

    /// Adds what a machine pushes a minute before now, its history, and its notice.
    mutating func push(
        _ id: String, host: String, daemonID: String?, account: String?, plan: String? = "Plus", _ percent: Double
    ) throws {
        let time = Self.now.addingTimeInterval(-60)
        let card = ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex", accountEmail: account, loginMethod: plan, lastUpdated: time,
            rateWindows: [
                SyncRateWindow(usedPercent: percent, windowMinutes: 10_080, resetsAt: time.addingTimeInterval(86_400))
            ], costSummary: SyncCostSummary(last30DaysCostUSD: percent, last30DaysTokens: 1_000))
        let snapshot = SyncedUsageSnapshot(
            providers: [card], syncTimestamp: time, deviceName: host, deviceID: id, daemonDeviceID: daemonID)
        var history = UsageHistory()
        history.add([card], now: time)
        values[SyncedUsageSnapshot.storeKey(deviceID: id)] = try SnapshotCodec.encode(snapshot)
        values[UsageHistory.storeKey(deviceID: id)] = HistoryCodec.encode(history)
        values[AlertNotice.storeKey(deviceID: id)] = AlertNotice(watches: true, heartbeat: 1, delivered: []).data
    }
}
