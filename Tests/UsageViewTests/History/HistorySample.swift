import Foundation
import StoreTestSupport
import SnapshotModels

@testable import UsageState

/// Invented pasts.
enum HistorySample {
    /// 2026-09-14T00:00:00Z, a Monday.
    static let monday = 1_789_344_000
    static let hour = 3_600
    static let day = 86_400
    static let week = 7 * day

    static func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    static func identity(
        _ label: String = "Weekly", account: String? = "a@example.test", minutes: Int? = 10_080
    ) -> WindowIdentity { WindowIdentity(providerID: "codex", account: account, label: label, minutes: minutes) }

    static func card(
        _ percent: Double, at seconds: Int, minutes: Int? = 10_080, resetsAt: Int?,
        label: String? = nil, account: String? = "A@example.test", id: String = "codex"
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: id, providerName: id.capitalized, accountEmail: account, lastUpdated: date(seconds),
            rateWindows: [
                SyncRateWindow(usedPercent: percent, windowMinutes: minutes, resetsAt: resetsAt.map(date), label: label)
            ])
    }

    static func snapshot(
        _ cards: [ProviderUsageSnapshot], at seconds: Int, device: String = "box"
    ) -> SyncedUsageSnapshot {
        SyncedUsageSnapshot(providers: cards, syncTimestamp: date(seconds), deviceName: device, deviceID: device)
    }

    /// A window that was used in every slot.
    static func full(until end: Int, using generator: inout SeededGenerator) -> WindowHistory {
        func track(_ empty: SlotTrack) -> SlotTrack {
            let slots = (0..<empty.capacity).map { _ in
                HistorySlot(level: PercentLevel(halves: .random(in: 0...60, using: &generator)))
            }
            return empty.with(first: empty.number(at: end) - empty.capacity + 1, slots: slots)
        }
        return WindowHistory(
            last: .init(time: end, level: .zero, resetsAt: end + 60), fine: track(.fine), coarse: track(.coarse))
    }

    /// A history of random observations, as one device may have it.
    static func random(
        _ windowCount: Int, until now: Int, steps: Int, using generator: inout SeededGenerator
    ) -> UsageHistory {
        var history = UsageHistory()
        var levels = [Double](repeating: 0, count: windowCount)
        var resets = [Int](repeating: 0, count: windowCount)
        var time = now - steps * 1_000
        while time < now {
            time += Int.random(in: 100...3_000, using: &generator)
            let cards = (0..<windowCount).compactMap { index -> ProviderUsageSnapshot? in
                guard Int.random(in: 0..<4, using: &generator) > 0 else { return nil }
                if resets[index] <= time {
                    resets[index] = time + Int.random(in: 3_000...100_000, using: &generator)
                    levels[index] = 0
                }
                levels[index] += Double.random(in: 0...9, using: &generator)
                return card(levels[index], at: min(time, now), resetsAt: resets[index], label: "L\(index)")
            }
            history.add(cards, now: date(min(time, now)))
        }
        return history
    }
}
