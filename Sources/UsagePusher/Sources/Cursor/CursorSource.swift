import Essentials
import LocalFiles
import SQLiteReading
import SnapshotModels

/// Reads the account and the plan of the editor Cursor. Its limits and, in current versions, its tokens are not on the
/// disk.
struct CursorSource: UsageSource {
    let providerID = "cursor"
    let providerName = "Cursor"
    let readInterval = 2.0

    private static let title = "Cursor account"
    private static let email = "cursorAuth/cachedEmail"
    private static let plan = "cursorAuth/stripeMembershipType"
    private static let status = "cursorAuth/stripeSubscriptionStatus"

    private var states = EditorStates()

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        SQLiteFiles.watchedPaths(of: EditorState.paths(of: "Cursor", in: environment))
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        var reading = SourceReading(isInstalled: false)
        var budget = ScanBudget(environment)
        for path in EditorState.paths(of: "Cursor", in: environment) {
            do throws(SQLiteError) {
                let keys = [Self.email, Self.plan, Self.status]
                guard let known = try states.read(path, keys: keys, budget: &budget) else { continue }
                let state = known.state
                reading.isInstalled = true
                let plan = state.values[Self.plan].map(Self.name)
                let status = state.values[Self.status].map(Self.name)
                let account = [
                    state.values[Self.email]?.displayText(), plan,
                    status == "Active" ? nil : status.map { "subscription \($0.lowercased())" },
                ].compactMap { $0 }.joined(separator: ", ")
                reading.findings.append(
                    SourceFinding(
                        path: path, title: Self.title,
                        detail: account.isEmpty ? "names no account" : account + "; no limits"))
                guard !account.isEmpty, reading.providers.isEmpty else { continue }
                reading.providers = [
                    ProviderUsageSnapshot(
                        providerID: providerID, providerName: providerName,
                        accountEmail: state.values[Self.email]?.displayText(), loginMethod: plan,
                        lastUpdated: min(known.date, now))
                ]
            } catch {
                reading.isInstalled = true
                reading.findings.append(error.finding(title: Self.title))
            }
        }
        reading.isPartial = budget.isExceeded
        let cards = reading.providers.map { AccountCard(snapshot: $0) }
        reading.providers = self.cards(cards, issues: reading.issues, at: now).map(\.snapshot)
        return reading
    }

    /// "free_trial" is shown as "Free Trial".
    private static func name(_ id: String) -> String {
        id.prefix(64).split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined(separator: " ").displayText(limit: 64) ?? ""
    }
}
