import ClockZones
import Foundation
import KVStoreEssentials
import KVStoreHTTP
import TestSupport
import SnapshotModels
import UsageState

@testable import usage_view

/// Invented accounts for status lines and gates, relative to a time.
struct InventedUsage {
    var now = Sample.now

    /// Markup of every program that shows a line, and what a terminal would obey.
    static let hostile = ##"<b>&'"#[fg=red]#{pane_id}#(id)%{F#f00}\"## + "\n\u{1B}[31m\u{202E}\u{9B}0m{used}"

    func window(
        _ percent: Double, minutes: Int = 300, resetsIn minutesLeft: Double? = 90, label: String? = nil
    ) -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: percent, windowMinutes: minutes,
            resetsAt: minutesLeft.map { now.addingTimeInterval($0 * 60) }, label: label)
    }

    func account(
        _ id: String, _ windows: [SyncRateWindow], name: String? = nil, account: String? = nil,
        minutesAgo: Double = 0, isError: Bool = false, confidence: String? = nil
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: id, providerName: name ?? id.capitalized, accountEmail: account,
            isError: isError, lastUpdated: now.addingTimeInterval(-minutesAgo * 60),
            rateWindows: windows, usageDataConfidence: confidence)
    }

    func snapshot(_ providers: [ProviderUsageSnapshot]) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(providers: providers, syncTimestamp: now, deviceName: "box", deviceID: "d1")
    }

    func data(_ providers: ProviderUsageSnapshot...) -> UsageData {
        let merged = SnapshotMerge.merge([snapshot(providers)], now: now)
        return UsageData(link: .online, stored: .usage(merged))
    }

    func model(_ data: UsageData, minutesLater: Double = 0) -> ViewModel {
        ViewModel(data: data, now: now.addingTimeInterval(minutesLater * 60), zone: .fixed(secondsFromGMT: 0))
    }

    /// Codex at 40 and 81 %, Claude at 22 %, an old number, one that was reset, an estimate and an error.
    var several: UsageData {
        data(
            account("codex", [window(40), window(81, minutes: 10_080, resetsIn: 4_620)], account: "dev@example.test"),
            account("claude", [window(22)]),
            account("gemini", [window(97)], minutesAgo: 120),
            account("cursor", [window(99, resetsIn: -10)]),
            account("kimi", [window(50)], confidence: "estimated"),
            account("amp", [], isError: true))
    }

    /// The line of one format.
    func line(
        _ format: String, _ data: UsageData, providers: [String] = [], maxWidth: Int? = nil,
        measure: ViewOptions.Measure = .used, isUnicode: Bool = true, isRedacted: Bool = false
    ) throws -> String {
        let renderer = StatusRenderer(
            format: try StatusFormat(format),
            choice: StatusChoice(measure: measure, isAbsolute: false, selection: UsageSelection(providers: providers)),
            maxWidth: maxWidth, isRedacted: isRedacted, isUnicode: isUnicode,
            isTwelveHour: false, zone: .fixed(secondsFromGMT: 0))
        return try renderer.line(data, now: now).text
    }
}

extension TemporaryHome {
    var storeEnvironment: StoreEnvironment { StoreEnvironment(home: path) }

    /// The local replica, as another program of the user has it open.
    func openStore() throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(configuration: storeEnvironment.configuration(isOnline: false))
    }

    /// Pushes what a device knows, as `usage-push` would.
    func push(_ providers: ProviderUsageSnapshot..., from usage: InventedUsage) throws {
        let store = try openStore()
        store.set(
            try SnapshotCodec.encode(usage.snapshot(providers)), forKey: SyncedUsageSnapshot.storeKey(deviceID: "d1"))
        store.close()
    }
}
