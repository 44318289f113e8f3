import Essentials

extension SyncedUsageSnapshot {
    /// The snapshot as JSON can express it, so that it can be encoded and survives a round trip:
    /// dates floored to whole seconds, costs with the days that readers require, windows without a
    /// finite percent left out, other non-finite numbers and window lengths below one minute nil.
    public func normalized() -> SyncedUsageSnapshot {
        var copy = self
        copy.syncTimestamp = syncTimestamp.clamped
        copy.providers = providers.map { $0.normalized() }
        return copy
    }
}

extension ProviderUsageSnapshot {
    func normalized() -> ProviderUsageSnapshot {
        var copy = self
        copy.lastUpdated = lastUpdated.clamped
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
    /// Nil without a finite percent.
    func normalized() -> SyncRateWindow? {
        guard usedPercent.isFinite else { return nil }
        var copy = self
        copy.windowMinutes = windowMinutes.flatMap { $0 > 0 ? $0 : nil }
        copy.resetsAt = resetsAt?.ifPlausible
        copy.observedAt = observedAt?.ifPlausible
        return copy
    }
}

extension SyncBudget {
    fileprivate func normalized() -> SyncBudget? {
        guard usedAmount.isFinite, limitAmount.isFinite else { return nil }
        var copy = self
        copy.resetsAt = resetsAt?.ifPlausible
        return copy
    }
}

extension SyncCostSummary {
    fileprivate func normalized() -> SyncCostSummary {
        var copy = self
        copy.sessionCostUSD = sessionCostUSD?.ifFinite
        copy.last30DaysCostUSD = last30DaysCostUSD?.ifFinite
        copy.hourly = hourly?.filter(\.costUSD.isFinite)
        // CodexBar's readers take neither a summary without days nor a day without its numbers.
        copy.daily = (daily ?? []).map { day in
            var day = day
            day.costUSD = day.costUSD?.ifFinite ?? 0
            day.totalTokens = day.totalTokens ?? 0
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
    /// In whole seconds; nil outside the plausible range.
    fileprivate var ifPlausible: Date? { LenientDate.date(fromSeconds: timeIntervalSince1970) }

    /// In whole seconds, clamped to the plausible range; 1970 for a date that is not a number.
    fileprivate var clamped: Date {
        let range = SnapshotLimits.secondsSince1970
        let seconds = timeIntervalSince1970
        guard !seconds.isNaN else { return Date(timeIntervalSince1970: 0) }
        return Date(timeIntervalSince1970: min(max(seconds, range.lowerBound), range.upperBound).rounded(.down))
    }
}
