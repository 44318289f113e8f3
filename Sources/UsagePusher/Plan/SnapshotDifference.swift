import Foundation
import SnapshotModels

/// How far a number may move without anybody seeing it. What moves less is not lost: it goes out
/// with the next heartbeat.
private enum Unseen {
    /// Percent points.
    static let percent = 0.1
    /// Seconds of a reset; a countdown shows minutes, and some sources compute the time.
    static let resetSeconds = 30.0
    /// Seconds of an observation time; an age is shown in minutes.
    static let ageSeconds = 60.0
    /// Money is shown in cents.
    static let amount = 0.005
    /// Part of a number of tokens, which is shown as "1.2M".
    static let tokenShare = 0.005
}

extension SyncedUsageSnapshot {
    /// Whether a viewer would show something else than for `older`. When a snapshot was built
    /// makes no difference; when a number was observed does from one minute on.
    func looksDifferent(from older: SyncedUsageSnapshot) -> Bool {
        var copy = self
        copy.syncTimestamp = older.syncTimestamp
        copy.providers = providers.settled(on: older.providers) { $0.settled(on: $1) }
        return copy != older
    }
}

// Each function gives back the newer value with everything that moved too little to be seen set
// back to the older one; what is still unequal then can be seen.

extension ProviderUsageSnapshot {
    fileprivate func settled(on older: ProviderUsageSnapshot) -> ProviderUsageSnapshot {
        var copy = self
        if abs(lastUpdated.timeIntervalSince(older.lastUpdated)) < Unseen.ageSeconds {
            copy.lastUpdated = older.lastUpdated
        }
        copy.primary = primary.settled(on: older.primary) { $0.settled(on: $1) }
        copy.secondary = secondary.settled(on: older.secondary) { $0.settled(on: $1) }
        copy.rateWindows = rateWindows.settled(on: older.rateWindows) { windows, older in
            windows.settled(on: older) { $0.settled(on: $1) }
        }
        copy.costSummary = costSummary.settled(on: older.costSummary) { $0.settled(on: $1) }
        copy.budget = budget.settled(on: older.budget) { $0.settled(on: $1) }
        copy.credits?.balance = credits?.balance.settled(on: older.credits?.balance) {
            $0.settled(on: $1, by: Unseen.amount)
        }
        return copy
    }
}

extension SyncRateWindow {
    fileprivate func settled(on older: SyncRateWindow) -> SyncRateWindow {
        var copy = self
        // "0 %" and "100 %" are said only when they are true, so reaching them can be seen.
        let isSameEnd =
            (usedPercent <= 0) == (older.usedPercent <= 0)
            && (usedPercent >= 100) == (older.usedPercent >= 100)
        if isSameEnd {
            copy.usedPercent = usedPercent.settled(on: older.usedPercent, by: Unseen.percent)
        }
        copy.resetsAt = resetsAt.settled(on: older.resetsAt) { $0.settled(on: $1) }
        return copy
    }
}

extension SyncBudget {
    fileprivate func settled(on older: SyncBudget) -> SyncBudget {
        var copy = self
        copy.usedAmount = usedAmount.settled(on: older.usedAmount, by: Unseen.amount)
        copy.resetsAt = resetsAt.settled(on: older.resetsAt) { $0.settled(on: $1) }
        return copy
    }
}

extension SyncCostSummary {
    fileprivate func settled(on older: SyncCostSummary) -> SyncCostSummary {
        var copy = self
        copy.sessionCostUSD = sessionCostUSD.settledAmount(on: older.sessionCostUSD)
        copy.last30DaysCostUSD = last30DaysCostUSD.settledAmount(on: older.last30DaysCostUSD)
        copy.sessionTokens = sessionTokens.settledTokens(on: older.sessionTokens)
        copy.last30DaysTokens = last30DaysTokens.settledTokens(on: older.last30DaysTokens)
        copy.daily = daily.settled(on: older.daily) { days, older in
            days.settled(on: older) { $0.settled(on: $1) }
        }
        return copy
    }
}

extension SyncDailyCost {
    fileprivate func settled(on older: SyncDailyCost) -> SyncDailyCost {
        var copy = self
        copy.costUSD = costUSD.settledAmount(on: older.costUSD)
        copy.totalTokens = totalTokens.settledTokens(on: older.totalTokens)
        copy.modelBreakdowns = modelBreakdowns.settled(on: older.modelBreakdowns) { rows, older in
            rows.settled(on: older) { $0.settled(on: $1) }
        }
        copy.serviceBreakdowns = serviceBreakdowns.settled(on: older.serviceBreakdowns) {
            $0.settled(on: $1) { $0.settled(on: $1) }
        }
        return copy
    }
}

extension SyncCostBreakdown {
    fileprivate func settled(on older: SyncCostBreakdown) -> SyncCostBreakdown {
        var copy = self
        copy.costUSD = costUSD.settled(on: older.costUSD, by: Unseen.amount)
        return copy
    }
}

extension Array {
    /// Element by element where there are as many; any other difference in number can be seen.
    fileprivate func settled(
        on older: [Element], _ settle: (Element, Element) -> Element
    ) -> [Element] {
        count == older.count ? zip(self, older).map(settle) : self
    }
}

extension Optional {
    fileprivate func settled(
        on older: Wrapped?, _ settle: (Wrapped, Wrapped) -> Wrapped
    ) -> Wrapped? {
        guard let self, let older else { return self }
        return settle(self, older)
    }
}

extension Optional where Wrapped == Double {
    fileprivate func settledAmount(on older: Double?) -> Double? {
        settled(on: older) { $0.settled(on: $1, by: Unseen.amount) }
    }
}

extension Optional where Wrapped == Int {
    fileprivate func settledTokens(on older: Int?) -> Int? {
        settled(on: older) { newer, older in
            let distance = abs(Double(newer) - Double(older))
            return distance < abs(Double(older)) * Unseen.tokenShare ? older : newer
        }
    }
}

extension Double {
    fileprivate func settled(on older: Double, by distance: Double) -> Double {
        abs(self - older) < distance ? older : self
    }
}

extension Date {
    fileprivate func settled(on older: Date) -> Date {
        abs(timeIntervalSince(older)) < Unseen.resetSeconds ? older : self
    }
}
