import ClockZones
import Foundation
import SnapshotModels
import UsageState

/// Invented states of usage.
struct UsageScene {
    /// 2026-09-18T12:00:00Z, a Friday.
    static let noon = Date(timeIntervalSince1970: 1_789_732_800)

    var now = noon
    var provider = "claude"
    var account: String? = "dev@example.test"
    var used = 10.0
    var minutes: Int? = 300
    var resetsAt: Date? = noon.addingTimeInterval(4 * 3_600)
    /// Seconds before `now`.
    var age = 0.0
    var confidence: String?
    var device = "box"
    var deviceID: String? = "box-id"
    /// When the device has pushed; `now` by default.
    var pushedAt: Date?
    var link = UsageData.Link.online
    var waits: [GateWaits.Wait] = []

    var snapshot: SyncedUsageSnapshot {
        SyncedUsageSnapshot(
            providers: [
                ProviderUsageSnapshot(
                    providerID: provider, providerName: provider.capitalized,
                    accountEmail: account, lastUpdated: now.addingTimeInterval(-age),
                    rateWindows: [
                        SyncRateWindow(usedPercent: used, windowMinutes: minutes, resetsAt: resetsAt)
                    ], usageDataConfidence: confidence)
            ],
            syncTimestamp: pushedAt ?? now, deviceName: device, deviceID: deviceID)
    }

    var model: ViewModel {
        Self.model([snapshot], now: now, link: link, waits: deviceID.map { [$0: GateWaits(waits)] } ?? [:])
    }

    static func model(
        _ snapshots: [SyncedUsageSnapshot], now: Date, link: UsageData.Link = .online, waits: [String: GateWaits] = [:]
    ) -> ViewModel {
        var data = UsageData(link: link, stored: .usage(SnapshotMerge.merge(snapshots, now: now)))
        data.waits = waits
        return ViewModel(data: data, now: now, zone: .fixed(secondsFromGMT: 0))
    }
}

/// A detector that is shown one scene after the other.
struct DetectorRun {
    var scene = UsageScene()
    var rules = AlertRules()
    private(set) var detector = AlertDetector()

    /// Changes the scene, a minute later, and returns "threshold 75", "reached 100", "reset", "runsOut", "silent".
    mutating func see(after seconds: Double = 60, _ change: (inout UsageScene) -> Void = { _ in }) -> [String] {
        scene.now += seconds
        change(&scene)
        return alerts().map { alert in alert.kind.rawValue + (alert.threshold.map { " \(Int($0))" } ?? "") }
    }

    mutating func used(_ percent: Double, after seconds: Double = 60) -> [String] {
        see(after: seconds) { $0.used = percent }
    }

    mutating func alerts() -> [Alert] { detector.observe(scene.model, rules: rules, ownDevice: "own") }

    /// As after a restart.
    mutating func restart() throws {
        detector = try JSONDecoder().decode(AlertDetector.self, from: JSONEncoder().encode(detector))
    }
}
