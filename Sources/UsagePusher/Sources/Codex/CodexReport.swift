import Essentials
import SnapshotModels

/// Codex's limits of one account as they are pushed and shown at the time `now`.
///
/// The newest reading of a limit counts, whatever its percent and resets: percents fall after a grant and resets move
/// back. It also says which windows the limit has.
struct CodexReport {
    private static let extraWindowLimit = 12

    let evidence: Evidence
    let account: CodexAccount?
    /// What the pass that gave the evidence could not read.
    var issues = SourceIssues()
    let now: Date

    private var main: LimitReading? { evidence.newest(CodexRow.mainLimit) }

    /// The main limit's windows still in effect, in display order.
    var mainWindows: [LimitReading.Window] { main.map { live($0) } ?? [] }

    /// When the numbers of the main limit were observed, else the newest of all.
    var observedAt: Date? {
        let reading = mainWindows.isEmpty ? evidence.newest(where: \.statesLimit) : main
        return reading.map { min($0.observedAt, now) }
    }

    /// Says which of the main limit's windows have been reset since they were observed; nil when a newer reading of
    /// them may be missing.
    var resetNotice: String? {
        guard issues.isEmpty else { return nil }
        let expired = (main?.windows ?? []).filter {
            !$0.isLive(observedAt: main?.observedAt ?? now, at: now)
        }
        return WindowKind.resetNotice(expired.map(\.kind).sorted())
    }

    /// Nil when no number and no account is known.
    func provider(accountSeenAt: Date?) -> ProviderUsageSnapshot? {
        guard let observed = observedAt ?? accountSeenAt else { return nil }
        let main = mainWindows
        func rateWindow(_ window: LimitReading.Window) -> SyncRateWindow {
            window.rateWindow(observedAt: observed, newest: observed)
        }
        var windows = main.map(rateWindow) + extraWindows(newest: observed)
        if !windows.isEmpty, let spending = spendingWindow { windows.append(spending) }
        let primary = main.first { $0.kind != .weekly }
        let secondary = main.first { $0.kind == .weekly } ?? main.first { $0 != primary }
        return ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex", primary: primary.map(rateWindow),
            secondary: secondary.map(rateWindow), accountEmail: account?.email, loginMethod: plan,
            statusMessage: status,
            lastUpdated: min(observed, now), rateWindows: windows.isEmpty ? nil : windows, budget: budget,
            credits: credits, usageDataConfidence: windows.isEmpty ? nil : "exact")
    }

    private func live(_ reading: LimitReading) -> [LimitReading.Window] {
        reading.windows.filter { $0.isLive(observedAt: reading.observedAt, at: now) }.sorted { $0.kind < $1.kind }
    }

    /// Windows of other limits (a model with its own), labelled with the limit's name, and with the window's where a
    /// limit has several.
    private func extraWindows(newest: Date) -> [SyncRateWindow] {
        let limits = evidence.readings.keys.filter { $0 != CodexRow.mainLimit }.sorted()
        let windows = limits.flatMap { limit -> [SyncRateWindow] in
            guard let reading = evidence.newest(limit) else { return [] }
            let label = evidence.readings[limit]?.lazy.compactMap(\.label).first
            let name = Self.shortName(label ?? limit)
            let live = live(reading)
            return live.map {
                $0.rateWindow(
                    label: live.count > 1 ? "\(name) \($0.kind.name)" : name, observedAt: reading.observedAt,
                    newest: newest)
            }
        }
        return Array(windows.prefix(Self.extraWindowLimit))
    }

    private var spendingWindow: SyncRateWindow? {
        budget.map {
            SyncRateWindow(
                usedPercent: $0.usedAmount / $0.limitAmount * 100, resetsAt: $0.resetsAt, label: "Individual limit")
        }
    }

    /// "GPT-5.3-Codex-Spark" → "Spark".
    private static func shortName(_ name: String) -> String {
        guard let end = name.firstRange(of: "-Codex-")?.upperBound, end < name.endIndex else { return name }
        return String(name[end...])
    }

    /// A rollout's plan, unless the token was renewed later.
    private var plan: String? {
        if account?.usesAPIKey == true { return "API key" }
        let stated = evidence.newest { $0.plan != nil }
        let isTokenNewer = account?.refreshedAt.map { $0 > stated?.observedAt ?? .distantPast } ?? false
        let name = isTokenNewer ? account?.plan ?? stated?.plan : stated?.plan ?? account?.plan
        return name.flatMap(CodexPlan.displayName)
    }

    private var newestCredits: LimitReading.Credits? {
        evidence.newest { $0.credits != nil }?.credits
    }

    private var credits: SyncCredits? {
        guard let credits = newestCredits, credits.hasCredits || credits.isUnlimited else { return nil }
        return SyncCredits(balance: credits.balance, unlimited: credits.isUnlimited)
    }

    private var budget: SyncBudget? {
        guard let limit = evidence.newest(where: { $0.budget != nil })?.budget else { return nil }
        return limit.resetsAt.map { $0 > now } ?? true ? limit : nil
    }

    private var status: String? {
        var sentences: [String] = []
        if let type = reachedType {
            sentences.append(Self.sentence(forReachedType: type))
        } else if isSpendLimitReached {
            sentences.append("Spend limit reached")
        } else if areCreditsUsedUp {
            sentences.append(Self.sentence(forReachedType: "workspace_member_credits_depleted"))
        }
        if let notice = issues.notice ?? resetNotice { sentences.append(notice) }
        return sentences.isEmpty ? nil : sentences.joined(separator: ". ")
    }

    /// Ends with the individual limit, where the row states one.
    private var isSpendLimitReached: Bool {
        guard let reading = evidence.newest(where: { $0.isSpendLimitReached != nil }),
            reading.isSpendLimitReached == true
        else { return false }
        return reading.budget?.resetsAt.map { $0 > now } ?? true
    }

    private var hasMainWindows: Bool { main.map { !$0.windows.isEmpty } ?? false }

    /// A reached limit ends when the windows observed with it are reset. Plans without windows report it for whatever
    /// limit they have.
    private var reachedType: String? {
        guard hasMainWindows else { return evidence.newest(where: \.statesLimit)?.reachedType }
        return mainWindows.isEmpty ? nil : main?.reachedType
    }

    /// A plan without windows that states no credits.
    private var areCreditsUsedUp: Bool {
        guard !hasMainWindows, let reading = evidence.newest(where: { $0.credits != nil }),
            let credits = reading.credits, !credits.hasCredits, !credits.isUnlimited
        else { return false }
        return credits.balance.map { $0 <= 0 } ?? (reading.limit == "premium")
    }

    private static func sentence(forReachedType type: String) -> String {
        switch type {
        case "workspace_owner_credits_depleted": "The workspace's credits are used up"
        case "workspace_member_credits_depleted": "Your workspace credits are used up"
        case "workspace_owner_usage_limit_reached": "The workspace's usage limit is reached"
        case "workspace_member_usage_limit_reached": "Your workspace usage limit is reached"
        default: "Rate limit reached"
        }
    }
}
