package import ClockZones
package import Essentials
package import SnapshotModels
import TerminalText

/// How current a provider's numbers are.
package enum Freshness: String, Sendable, Codable {
    case fresh
    /// Already old when pushed: the tool's own file held an earlier reading.
    case cached
    case stale
    /// Observed in the future: the device's clock is wrong.
    case clockAhead

    /// Numbers older than this are stale, in seconds.
    package static let staleAge: TimeInterval = 3_600
    /// A reading is cached if it is older than its push by more than this, in seconds.
    package static let cachedLag: TimeInterval = 300

    package static func byTime(observedAt: Date, pushedAt: Date?) -> Timed<Freshness> {
        let lag = pushedAt?.timeIntervalSince(observedAt) ?? 0
        return Timed(
            .clockAhead,
            [
                (
                    from: observedAt.addingTimeInterval(-SnapshotMerge.clockTolerance),
                    value: lag > cachedLag ? .cached : .fresh
                ),
                // Not at that age already.
                (from: observedAt.addingTimeInterval(staleAge + 0.001), value: .stale),
            ])
    }
}

/// One provider account at one time. Strings are unescaped.
package struct ProviderState: Sendable, Equatable {
    package let snapshot: ProviderUsageSnapshot
    package let deviceNames: [String]
    /// Lowercased.
    let deviceIDs: Set<String>
    /// The device that the windows come from.
    package let source: String?
    /// In display order.
    package var windows: [WindowState]
    package let freshness: Freshness
    package let freshnessByTime: Timed<Freshness>
    package let cost: CostState?
    /// The only device with costs; nil if several have, or none.
    let costSource: String?
    /// Whether the device with the reading has pushed later without a newer one: its tool is idle, and not its pusher.
    let isPushedSince: Bool

    package init(_ merged: MergedProvider, now: Date, zone: ClockZone, history: UsageHistory = .init()) {
        snapshot = merged.snapshot
        deviceNames = merged.parts.map(\.deviceName)
        deviceIDs = Set(merged.parts.compactMap { $0.deviceID?.lowercased() })
        source = merged.parts.first(where: \.suppliesWindows)?.deviceName
        windows = WindowState.inDisplayOrder(of: merged.snapshot, now: now, zone: zone, history: history)
        let (observedAt, pushedAt) = (
            merged.snapshot.lastUpdated, merged.parts.first(where: \.suppliesWindows)?.syncTimestamp
        )
        freshnessByTime = Freshness.byTime(observedAt: observedAt, pushedAt: pushedAt)
        isPushedSince = pushedAt.map { $0.timeIntervalSince(observedAt) > Freshness.cachedLag } ?? false
        freshness = freshnessByTime.value(at: now)
        cost = CostState(merged, now: now, zone: zone)
        let spending = merged.parts.filter { $0.costSummary != nil }
        costSource = spending.count == 1 ? spending[0].deviceName : nil
    }

    /// How current the number of a window is, which may be older than the card.
    package func freshness(of window: WindowState?) -> Timed<Freshness> {
        guard let window, window.observedAt < snapshot.lastUpdated else { return freshnessByTime }
        return Freshness.byTime(observedAt: window.observedAt, pushedAt: snapshot.lastUpdated)
    }

    /// The same as long as the account exists.
    package var id: String { snapshot.providerID + "\t" + (snapshot.accountEmail ?? "").lowercased() }

    /// "Codex", or "Codex dev@example.test" with an account. Escaped.
    package var title: String {
        let account = snapshot.accountEmail.map { " " + VisibleText.escape($0) } ?? ""
        return VisibleText.escape(snapshot.providerName) + account
    }

}
