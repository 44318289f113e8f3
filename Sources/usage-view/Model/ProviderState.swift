import Foundation
import SnapshotModels

/// One provider account at a moment. Strings are as they came: the view escapes them.
struct ProviderState: Sendable, Equatable {
    let snapshot: ProviderUsageSnapshot
    let parts: [ProviderPart]
    let windows: [WindowState]
    let freshness: Freshness
    /// The percents are computed against an assumed limit.
    let isEstimated: Bool

    init(_ merged: MergedProvider, now: Date) {
        snapshot = merged.snapshot
        parts = merged.parts
        isEstimated = merged.snapshot.usageDataConfidence == "estimated"
        let observedAt = merged.snapshot.lastUpdated
        windows = WindowState.inDisplayOrder(of: merged.snapshot, observedAt: observedAt, now: now)
        freshness = Freshness(
            observedAt: observedAt,
            pushedAt: merged.parts.first(where: \.suppliesWindows)?.syncTimestamp, now: now)
    }

    /// Percent left in the tightest window that is not past its reset.
    var leastRemaining: Double? { tightestWindow?.window.remainingPercent }

    var tightestWindow: WindowState? {
        windows.filter { !$0.isExpired }
            .min { $0.window.remainingPercent < $1.window.remainingPercent }
    }

    /// The devices' own costs, where more than one of them adds to the sum.
    var costParts: [ProviderPart] {
        guard SnapshotMerge.localLogProviders.contains(snapshot.providerID) else { return [] }
        let withCosts = parts.filter { $0.costSummary != nil }
        return withCosts.count > 1 ? withCosts : []
    }
}
