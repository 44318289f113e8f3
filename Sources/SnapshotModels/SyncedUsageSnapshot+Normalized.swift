import Foundation

extension SyncedUsageSnapshot {
    /// The snapshot as the document can say it, so that encoding never fails and a round trip is
    /// equal: dates floored to whole seconds, windows without a finite percent left out, other
    /// non-finite numbers nil, window lengths below one minute nil.
    public func normalized() -> SyncedUsageSnapshot {
        var copy = self
        copy.syncTimestamp = syncTimestamp.clampedToDocument
        copy.providers = providers.map { $0.normalized() }
        return copy
    }
}

extension ProviderUsageSnapshot {
    func normalized() -> ProviderUsageSnapshot {
        var copy = self
        copy.lastUpdated = lastUpdated.clampedToDocument
        copy.primary = primary?.normalized()
        copy.secondary = secondary?.normalized()
        copy.rateWindows = rateWindows?.compactMap { $0.normalized() }
        copy.costSummary = costSummary?.normalized()
        copy.budget = budget?.normalized()
        copy.credits?.balance = credits?.balance?.ifFinite
        return copy
    }
}

extension SyncRateWindow {
    /// nil when the percent is not a number that can be written.
    func normalized() -> SyncRateWindow? {
        guard usedPercent.isFinite else { return nil }
        var copy = self
        copy.windowMinutes = windowMinutes.flatMap { $0 > 0 ? $0 : nil }
        copy.resetsAt = resetsAt?.ifInDocumentRange
        return copy
    }
}

extension SyncBudget {
    fileprivate func normalized() -> SyncBudget? {
        guard usedAmount.isFinite, limitAmount.isFinite else { return nil }
        var copy = self
        copy.resetsAt = resetsAt?.ifInDocumentRange
        return copy
    }
}

extension SyncCostSummary {
    fileprivate func normalized() -> SyncCostSummary {
        var copy = self
        copy.sessionCostUSD = sessionCostUSD?.ifFinite
        copy.last30DaysCostUSD = last30DaysCostUSD?.ifFinite
        copy.daily = daily?.map { day in
            var day = day
            day.costUSD = day.costUSD?.ifFinite
            day.modelBreakdowns = day.modelBreakdowns?.filter(\.costUSD.isFinite)
            day.serviceBreakdowns = day.serviceBreakdowns?.filter(\.costUSD.isFinite)
            return day
        }
        return copy
    }
}

extension Double {
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}

extension Date {
    /// Whole seconds; nil outside the years that the document can hold.
    fileprivate var ifInDocumentRange: Date? {
        let seconds = timeIntervalSince1970.rounded(.down)
        return SnapshotLimits.secondsSince1970.contains(seconds)
            ? Date(timeIntervalSince1970: seconds) : nil
    }

    /// Whole seconds; the nearest year that the document can hold, 1970 for no number at all.
    fileprivate var clampedToDocument: Date {
        let range = SnapshotLimits.secondsSince1970
        let seconds = timeIntervalSince1970
        guard !seconds.isNaN else { return Date(timeIntervalSince1970: 0) }
        let clamped = min(max(seconds, range.lowerBound), range.upperBound)
        return Date(timeIntervalSince1970: clamped.rounded(.down))
    }
}
