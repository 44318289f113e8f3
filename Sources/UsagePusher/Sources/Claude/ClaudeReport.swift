import Foundation
import SnapshotModels

/// Claude's limits of one account as they are pushed and shown at the time `now`.
///
/// Per window the newest observation counts, a rejection like a number: percents fall after a grant or an upgrade.
struct ClaudeReport {
    private static let extraWindowLimit = 12

    var evidence: Evidence
    var account: ClaudeState.Account?
    var credentials: ClaudePlan.Credentials?
    var now: Date

    /// The newest readings whose windows are still in effect: those of all models first, then per model.
    private var live: [(window: ClaudeWindow, reading: LimitReading)] {
        Array(evidence.liveWindows(at: now).prefix(Self.extraWindowLimit))
    }

    /// Nil when neither an account nor a number is known.
    func provider(accountSeenAt: Date?) -> ProviderUsageSnapshot? {
        let shown = live
        let budget = currentBudget
        let observed =
            shown.map(\.reading.observedAt).max() ?? budget?.observedAt
            ?? evidence.newest(where: { !$0.windows.isEmpty })?.observedAt ?? accountSeenAt
        guard let observed else { return nil }
        let windows = shown.flatMap { shown in
            shown.reading.windows.map { $0.rateWindow(label: shown.window.scope) }
        }
        func first(_ window: ClaudeWindow) -> SyncRateWindow? {
            shown.first { $0.window == window }?.reading.windows.first?.rateWindow()
        }
        return ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude", primary: first(.session),
            secondary: first(.weekly), accountEmail: account?.email,
            loginMethod: ClaudePlan.displayName(account: account, credentials: credentials),
            statusMessage: resetNotice, lastUpdated: min(observed, now),
            rateWindows: windows.isEmpty ? nil : windows, budget: budget?.budget,
            usageDataConfidence: windows.isEmpty ? nil : "exact")
    }

    /// A monthly amount counts only in the month it was observed in.
    private var currentBudget: LimitReading? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return evidence.newest { $0.budget != nil }.flatMap {
            calendar.isDate($0.observedAt, equalTo: now, toGranularity: .month) ? $0 : nil
        }
    }

    private var resetNotice: String? {
        let live = live.map(\.window)
        return WindowKind.resetNotice(
            [ClaudeWindow.session, .weekly].filter { window in
                !live.contains(window)
                    && evidence.readings[window.kind.name]?.contains { !$0.isRejection } ?? false
            }.map(\.kind))
    }
}

extension Evidence {
    /// "session 22 % used, weekly 37 % used" for Claude's windows still in effect, and when the newest of them was
    /// observed; nil without any.
    func summary(at now: Date) -> (text: String, observedAt: Date)? {
        let live = liveWindows(at: now).map(\.reading)
        guard let observed = live.map(\.observedAt).max() else { return nil }
        let parts = live.map { "\($0.limit) \($0.windows[0].percentText) used" }
        return (parts.joined(separator: ", "), min(observed, now))
    }

    /// Claude's windows still in effect, sorted, with their newest readings.
    fileprivate func liveWindows(
        at now: Date
    ) -> [(window: ClaudeWindow, reading: LimitReading)] {
        readings.keys.compactMap { newest($0) }.filter { reading in
            reading.windows.contains { $0.isLive(observedAt: reading.observedAt, at: now) }
        }.map { (ClaudeWindow($0), $0) }.sorted { $0.0 < $1.0 }
    }
}
