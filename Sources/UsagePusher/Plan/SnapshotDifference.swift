import Essentials
import SnapshotModels

/// Differences below these are not shown by a viewer; they are pushed with the next heartbeat.
private enum Threshold {
    /// Percent points.
    static let percent = 0.1
    /// Seconds of a reset: a countdown shows minutes, and some sources compute the time.
    static let reset = 30.0
    /// Seconds of an observation time: an age is shown in minutes.
    static let observation = 60.0
    /// Money is shown in cents.
    static let amount = 0.005
}

extension SyncedUsageSnapshot {
    /// Whether a viewer would show this snapshot differently from `older`. The time at which a
    /// snapshot was built makes no difference; that of an observation does from a minute on.
    func looksDifferent(from older: SyncedUsageSnapshot) -> Bool {
        var copy = self
        copy.syncTimestamp = older.syncTimestamp
        copy.providers.removeJitter(from: older.providers)
        return copy != older
    }
}

private protocol Jittering {
    /// Sets every part that differs from `older` by less than its threshold back to the older
    /// value: what is still unequal is visible.
    mutating func removeJitter(from older: Self)
}

extension ProviderUsageSnapshot: Jittering {
    fileprivate mutating func removeJitter(from older: ProviderUsageSnapshot) {
        lastUpdated.removeJitter(from: older.lastUpdated, below: Threshold.observation)
        primary.removeJitter(from: older.primary)
        secondary.removeJitter(from: older.secondary)
        rateWindows.removeJitter(from: older.rateWindows)
        budget.removeJitter(from: older.budget)
        credits?.balance?.removeJitter(from: older.credits?.balance, below: Threshold.amount)
    }
}

extension SyncRateWindow: Jittering {
    fileprivate mutating func removeJitter(from older: SyncRateWindow) {
        // "0 %" and "100 %" are shown only when they are exact, so reaching them is visible.
        if (usedPercent <= 0) == (older.usedPercent <= 0), (usedPercent >= 100) == (older.usedPercent >= 100) {
            usedPercent.removeJitter(from: older.usedPercent, below: Threshold.percent)
        }
        resetsAt?.removeJitter(from: older.resetsAt, below: Threshold.reset)
    }
}

extension SyncBudget: Jittering {
    fileprivate mutating func removeJitter(from older: SyncBudget) {
        usedAmount.removeJitter(from: older.usedAmount, below: Threshold.amount)
        resetsAt?.removeJitter(from: older.resetsAt, below: Threshold.reset)
    }
}

extension Array: Jittering where Element: Jittering {
    /// A different number of elements is visible.
    fileprivate mutating func removeJitter(from older: [Element]) {
        guard count == older.count else { return }
        for index in indices { self[index].removeJitter(from: older[index]) }
    }
}

extension Optional: Jittering where Wrapped: Jittering {
    fileprivate mutating func removeJitter(from older: Wrapped?) {
        if let older { self?.removeJitter(from: older) }
    }
}

extension Strideable where Stride == Double {
    fileprivate mutating func removeJitter(from older: Self?, below threshold: Double) {
        if let older, abs(distance(to: older)) < threshold { self = older }
    }
}
