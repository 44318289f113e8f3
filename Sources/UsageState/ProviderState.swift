package import Essentials
package import SnapshotModels

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

    package init(observedAt: Date, pushedAt: Date?, now: Date) {
        let age = now.timeIntervalSince(observedAt)
        if age < -SnapshotMerge.clockTolerance {
            self = .clockAhead
        } else if age > Self.staleAge {
            self = .stale
        } else if let pushedAt, pushedAt.timeIntervalSince(observedAt) > Self.cachedLag {
            self = .cached
        } else {
            self = .fresh
        }
    }
}

/// One provider account at one time. Strings are unescaped.
package struct ProviderState: Sendable, Equatable {
    package let snapshot: ProviderUsageSnapshot
    package let deviceNames: [String]
    /// In display order.
    package var windows: [WindowState]
    package let freshness: Freshness
    package let cost: CostState?

    package init(
        _ merged: MergedProvider, now: Date, zone: ClockZone, history: UsageHistory = .init()
    ) {
        snapshot = merged.snapshot
        deviceNames = merged.parts.map(\.deviceName)
        windows = WindowState.inDisplayOrder(
            of: merged.snapshot, now: now, zone: zone, history: history)
        freshness = Freshness(
            observedAt: merged.snapshot.lastUpdated,
            pushedAt: merged.parts.first(where: \.suppliesWindows)?.syncTimestamp, now: now)
        cost = CostState(merged, now: now, zone: zone)
    }

    /// The window with the least left that has not passed its reset.
    package var tightestWindow: WindowState? {
        windows.filter { !$0.isExpired }
            .min { $0.window.remainingPercent < $1.window.remainingPercent }
    }

    /// Percentage left in `tightestWindow`.
    package var leastRemaining: Double? { tightestWindow?.window.remainingPercent }

    /// Providers without a current window last; equal ones in their order.
    package static func tightestFirst(_ providers: [ProviderState]) -> [ProviderState] {
        providers.sorted { ($0.leastRemaining ?? .infinity) < ($1.leastRemaining ?? .infinity) }
    }
}
