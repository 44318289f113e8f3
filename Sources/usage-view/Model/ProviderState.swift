import Foundation
import SnapshotModels

/// One provider account at a moment. Strings are as they came: the view escapes them.
struct ProviderState: Sendable, Equatable {
    let snapshot: ProviderUsageSnapshot
    let parts: [ProviderPart]
    let windows: [WindowState]
    let freshness: Freshness

    init(_ merged: MergedProvider, now: Date) {
        snapshot = merged.snapshot
        parts = merged.parts
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
}
