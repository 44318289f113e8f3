import Essentials
import SnapshotModels

/// Claude's limits of one account as they are pushed and shown at the time `now`.
///
/// Per window the newest observation counts, a rejection like a number: percents fall after a grant or an upgrade.
struct ClaudeReport {
    var evidence: Evidence
    var account: ClaudeState.Account?
    var credentials: ClaudePlan.Credentials?
    /// What the pass that gave the evidence could not read.
    var issues = SourceIssues()
    var now: Date

    /// Nil when neither an account nor a number is known.
    func provider(accountSeenAt: Date?) -> ProviderUsageSnapshot? {
        LimitCard(
            providerID: "claude", providerName: "Claude", evidence: evidence, now: now, email: account?.email,
            plan: ClaudePlan.displayName(account: account, credentials: credentials), budget: currentBudget,
            issues: issues
        ).snapshot(accountSeenAt: accountSeenAt)
    }

    /// A monthly amount counts only in the month it was observed in.
    private var currentBudget: LimitReading? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return evidence.newest { $0.budget != nil }.flatMap {
            calendar.isDate($0.observedAt, equalTo: now, toGranularity: .month) ? $0 : nil
        }
    }
}
