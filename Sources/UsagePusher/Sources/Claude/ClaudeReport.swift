import Foundation
import SnapshotModels

/// Turns what Claude Code's files say into what is pushed and shown, for one moment.
///
/// Per window: a refusal counts until its reset, since it is the provider's own "used up". Only a
/// number that was seen after it, for a window with a later reset, shows that the refusal's window
/// was ended early. Otherwise `WindowReadings` decides between status line and cache.
struct ClaudeReport {
    private static let extraWindowLimit = 12

    var account: ClaudeState.Account?
    var credentials: ClaudePlan.Credentials?
    /// From status lines and the cache.
    var readings = ClaudeReadings()
    var refusals = ClaudeReadings()
    var budget: Dated<SyncBudget>?
    var now: Date

    struct Shown {
        var window: ClaudeWindow
        var reading: WindowReading

        var rateWindow: SyncRateWindow { reading.window(window.kind, label: window.scope) }
    }

    /// The windows that are still valid: all together first, then per model.
    var windows: [Shown] {
        let known = Set(readings.windows.keys).union(refusals.windows.keys).sorted()
        let live = known.compactMap { window in
            current(window).map { Shown(window: window, reading: $0) }
        }
        return Array(live.prefix(Self.extraWindowLimit))
    }

    private func current(_ window: ClaudeWindow) -> WindowReading? {
        let number = readings.windows[window]?.current(window.kind, at: now)
        guard let refusal = refusals.windows[window]?.current(window.kind, at: now) else {
            return number
        }
        guard let number, let refused = refusal.resetsAt, let reset = number.resetsAt,
            number.observedAt > refusal.observedAt
        else { return refusal }
        let isNewWindow = reset.timeIntervalSince(refused) > WindowReadings.sameWindow
        return isNewWindow ? number : refusal
    }

    /// Nil when neither an account nor a number is known.
    func provider(accountSeenAt: Date?) -> ProviderUsageSnapshot? {
        let shown = windows
        let former = readings.windows.merging(refusals.windows) { first, _ in first }.values
            .compactMap { $0.newest(before: now)?.observedAt }
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
            loginMethod: ClaudePlan.shownName(account: account, credentials: credentials),
            statusMessage: expiredWords, lastUpdated: min(observed, now),
            rateWindows: all.isEmpty ? nil : all, budget: budget?.value,
            usageDataConfidence: all.isEmpty ? nil : "exact")
    }

    /// A monthly amount says nothing about the month after.
    private var currentBudget: Dated<SyncBudget>? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return budget.flatMap {
            calendar.isDate($0.at, equalTo: now, toGranularity: .month) ? $0 : nil
        }
    }

    /// Says that a number is missing because its window is over, and not because it is 0.
    var expiredWords: String? {
        let names = [ClaudeWindow.session, .weekly].filter { window in
            readings.windows[window] != nil && current(window) == nil
        }.map(\.kind.words)
        guard !names.isEmpty else { return nil }
        let subject =
            names.count == 1
            ? "The \(names[0]) limit has" : "The \(names.joined(separator: " and ")) limits have"
        return subject + " been reset since the last reading"
    }
}

extension ClaudeReadings {
    /// "session 22 % used, weekly 37 % used" for what is still valid, and when it was seen.
    func summary(at now: Date) -> (words: String, observedAt: Date)? {
        let live = windows.keys.sorted().compactMap { window in
            windows[window]?.current(window.kind, at: now).map { (window, $0) }
        }
        guard let newest = live.map(\.1.observedAt).max() else { return nil }
        let words = live.map { window, reading in
            let name = window.scope.map { $0 + " " + window.kind.words } ?? window.kind.words
            return "\(name) \(reading.percentWords) used"
        }
        return (words.joined(separator: ", "), newest)
    }
}
