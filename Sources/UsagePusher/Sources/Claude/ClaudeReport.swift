import Foundation
import SnapshotModels

/// Claude's limits as they are pushed and shown, computed from all evidence for the time `now`.
///
/// Per window: a rejection counts until its reset, since it is the provider's own "used up". Only
/// a number observed after it, for a window with a later reset, shows that the rejection's window
/// ended early. Otherwise `WindowReadings` decides between status line and cache.
struct ClaudeReport {
    private static let extraWindowLimit = 12

    var account: ClaudeState.Account?
    var credentials: ClaudePlan.Credentials?
    /// From status lines and the cache.
    var readings = ClaudeReadings()
    var rejections = ClaudeReadings()
    var budget: Timestamped<SyncBudget>?
    var now: Date

    struct Shown {
        var window: ClaudeWindow
        var reading: WindowReading

        var rateWindow: SyncRateWindow { reading.window(window.kind, label: window.scope) }
    }

    /// The windows still in effect: those of all models first, then per model.
    var windows: [Shown] {
        let known = Set(readings.windows.keys).union(rejections.windows.keys).sorted()
        let live = known.compactMap { window in
            current(window).map { Shown(window: window, reading: $0) }
        }
        return Array(live.prefix(Self.extraWindowLimit))
    }

    private func current(_ window: ClaudeWindow) -> WindowReading? {
        let number = readings.windows[window]?.current(window.kind, at: now)
        guard let rejection = rejections.windows[window]?.current(window.kind, at: now) else {
            return number
        }
        guard let number, let rejected = rejection.resetsAt, let reset = number.resetsAt,
            number.observedAt > rejection.observedAt
        else { return rejection }
        let isNewWindow = reset.timeIntervalSince(rejected) > WindowReadings.sameWindow
        return isNewWindow ? number : rejection
    }

    /// Nil when neither an account nor a number is known.
    func provider(accountSeenAt: Date?) -> ProviderUsageSnapshot? {
        let shown = windows
        let former = readings.windows.merging(rejections.windows) { first, _ in first }.values
            .compactMap { $0.newest(at: now)?.observedAt }
        let budget = currentBudget
        let observed =
            shown.map(\.reading.observedAt).max() ?? budget.map(\.at) ?? former.max()
            ?? accountSeenAt
        guard let observed else { return nil }
        let all = shown.map(\.rateWindow)
        return ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude",
            primary: shown.first { $0.window == .session }?.rateWindow,
            secondary: shown.first { $0.window == .weekly }?.rateWindow,
            accountEmail: account?.email,
            loginMethod: ClaudePlan.displayName(account: account, credentials: credentials),
            statusMessage: resetNotice, lastUpdated: min(observed, now),
            rateWindows: all.isEmpty ? nil : all, budget: budget?.value,
            usageDataConfidence: all.isEmpty ? nil : "exact")
    }

    /// A monthly amount counts only in the month it was observed in.
    private var currentBudget: Timestamped<SyncBudget>? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return budget.flatMap {
            calendar.isDate($0.at, equalTo: now, toGranularity: .month) ? $0 : nil
        }
    }

    private var resetNotice: String? {
        WindowKind.resetNotice(
            [ClaudeWindow.session, .weekly].filter { window in
                readings.windows[window] != nil && current(window) == nil
            }.map(\.kind))
    }
}

extension ClaudeReadings {
    /// "session 22 % used, weekly 37 % used" for the windows still in effect, and when the newest of
    /// them was observed; nil without any.
    func summary(at now: Date) -> (text: String, observedAt: Date)? {
        let live = windows.keys.sorted().compactMap { window in
            windows[window]?.current(window.kind, at: now).map { (window, $0) }
        }
        guard let newest = live.map(\.1.observedAt).max() else { return nil }
        let parts = live.map { window, reading in
            let name = [window.scope, window.kind.name].compactMap { $0 }.joined(separator: " ")
            return "\(name) \(reading.percentText) used"
        }
        return (parts.joined(separator: ", "), newest)
    }
}
