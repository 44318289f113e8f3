import Essentials
import SnapshotModels
import UsageState

/// Invented usage, to see the screen on a machine without any tool. Its device name says so.
enum DemoUsage {
    static func data(at now: Date) -> UsageData {
        let snapshot = snapshot(at: now)
        var data = UsageData(
            link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: now)),
            history: DemoHistory.leading(to: snapshot, at: now))
        data.year = DemoYear.leading(to: now)
        return data
    }

    static func snapshot(at now: Date) -> SyncedUsageSnapshot {
        func window(
            _ percent: Double, _ minutes: Int, resetsInMinutes: Double, _ label: String? = nil
        ) -> SyncRateWindow {
            SyncRateWindow(
                usedPercent: percent, windowMinutes: minutes,
                resetsAt: now.addingTimeInterval(resetsInMinutes * 60), label: label)
        }
        func cost(_ dollarsAnHour: Double, _ models: String...) -> SyncCostSummary {
            let hour = Int(now.timeIntervalSince1970) / 3_600
            let hours = stride(from: hour - 29 * 24, through: hour, by: 7).map {
                let dollars = dollarsAnHour * DemoYear.activity(day: $0 / 24, ago: hour / 24 - $0 / 24)
                return SyncHourlyCost(hour: $0, totalTokens: Int(dollars * 410_000), costUSD: dollars)
            }
            // Each half of the one before, and all together what the hours cost.
            let shares = models.indices.map { 1 / Double(1 << $0) }
            let unit = hours.reduce(0) { $0 + $1.costUSD } / shares.reduce(0, +)
            return SyncCostSummary(
                daily: [
                    SyncDailyCost(
                        dayKey: "2026-01-01",
                        modelBreakdowns: zip(models, shares).map { SyncCostBreakdown(label: $0, costUSD: $1 * unit) })
                ], hourly: hours)
        }
        return SyncedUsageSnapshot(
            providers: [
                ProviderUsageSnapshot(
                    providerID: "codex", providerName: "Codex", accountEmail: "demo@example.test", loginMethod: "Plus",
                    lastUpdated: now.addingTimeInterval(-130),
                    rateWindows: [
                        window(36, 300, resetsInMinutes: 135),
                        window(81, 10_080, resetsInMinutes: 4_620),
                    ], costSummary: cost(0.42, "gpt-5-codex", "gpt-5-mini")),
                ProviderUsageSnapshot(
                    providerID: "claude", providerName: "Claude",
                    accountEmail: "demo@example.test", loginMethod: "Max 5x",
                    lastUpdated: now.addingTimeInterval(-40),
                    rateWindows: [
                        window(22, 300, resetsInMinutes: 190),
                        window(37, 10_080, resetsInMinutes: 5_700),
                        window(93, 10_080, resetsInMinutes: 5_700, "Opus"),
                    ], costSummary: cost(1.87, "opus", "sonnet", "haiku")),
            ],
            syncTimestamp: now, deviceName: "demo (invented data)", deviceID: "demo")
    }
}
