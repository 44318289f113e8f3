// Invented usage for tests, and pushing it. Not here: daemons, and what they are expected to do.

package import Foundation
package import SnapshotModels
import UsageState

/// A store to which devices push invented usage.
package protocol UsageTarget {
    /// When usage is observed, in whole seconds, as a codec keeps them.
    var start: Date { get }
    func put(_ bytes: Data, key: String) async throws
}

extension UsageTarget {
    package func push(_ snapshot: SyncedUsageSnapshot) async throws {
        let key = SyncedUsageSnapshot.storeKey(deviceID: snapshot.deviceID ?? "none")
        try await put(try SnapshotCodec.encode(snapshot), key: key)
    }

    /// Pushes a history of "desk", in which each window of five hours of an account was used evenly.
    package func pushHistory(of account: ProviderUsageSnapshot, quarters: Int) async throws {
        let history = UsageHistory.even(
            account, until: start, resetsAt: start.addingTimeInterval(150.5 * 60), quarters: quarters)
        try await put(HistoryCodec.encode(history), key: UsageHistory.storeKey(deviceID: "id-of-desk"))
    }

    /// A snapshot of one device.
    package func snapshot(
        _ device: String = "desk", id: String? = nil, pushedSecondsAgo: Double = 0, _ accounts: ProviderUsageSnapshot...
    ) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(
            providers: accounts, syncTimestamp: start.addingTimeInterval(-pushedSecondsAgo),
            deviceName: device, deviceID: id ?? "id-of-\(device)")
    }

    /// An account with windows of five hours and a week.
    package func provider(
        _ id: String = "codex", _ name: String = "Codex", account: String? = "dev@example.test",
        plan: String = "Plus", session: Double = 36, weekly: Double = 81,
        observedSecondsAgo: Double = 0, cost: SyncCostSummary? = nil, status: String? = nil
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: id, providerName: name, accountEmail: account, loginMethod: plan,
            statusMessage: status, lastUpdated: start.addingTimeInterval(-observedSecondsAgo),
            rateWindows: [
                window(session, 300, resetsInMinutes: 150.5),
                window(weekly, 10_080, resetsInMinutes: 4_320.5),
            ],
            costSummary: cost)
    }

    package func window(
        _ percent: Double, _ minutes: Int, resetsInMinutes: Double, _ label: String? = nil
    ) -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: percent, windowMinutes: minutes,
            resetsAt: start.addingTimeInterval(resetsInMinutes * 60), label: label)
    }
}
