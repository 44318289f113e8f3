import Foundation
import SnapshotModels

/// Codex's limits as they are pushed and shown, computed from all evidence for the time `now`.
struct CodexReport {
    private static let extraWindowLimit = 12

    let digest: CodexDigest
    let account: CodexAccount?
    let now: Date

    /// The main bucket's windows still in effect, in display order.
    var mainWindows: [(kind: WindowKind, reading: WindowReading)] {
        digest.mainKinds.compactMap { kind in
            digest.current(kind, at: now).map { (kind, $0) }
        }
    }

    /// Kinds of the main bucket's windows that have been reset since they were last observed. A
    /// kind that newer lines of the bucket no longer name is not part of the plan any more.
    var expiredKinds: [WindowKind] {
        let seen = digest.mainKinds.map { ($0, digest.newest($0, at: now)?.observedAt ?? now) }
        guard let newest = seen.map(\.1).max() else { return [] }
        return seen.filter { kind, at in
            digest.current(kind, at: now) == nil && newest.timeIntervalSince(at) <= 60
        }.map(\.0)
    }

    /// Nil when no number and no account is known.
    func provider(accountSeenAt: Date?) -> ProviderUsageSnapshot? {
        let main = mainWindows
        let extras = extraWindows
        guard let observed = observedAt(main: main, extras: extras) ?? accountSeenAt else {
            return nil
        }
        let windows =
            main.map { $0.reading.window($0.kind) } + extras.map(\.window)
        let primary = main.first { $0.kind != .weekly }
        let secondary =
            main.first { $0.kind == .weekly }
            ?? main.first { $0.kind != .weekly && $0.kind != primary?.kind }
        return ProviderUsageSnapshot(
            providerID: "codex", providerName: "Codex",
            primary: primary.map { $0.reading.window($0.kind) },
            secondary: secondary.map { $0.reading.window($0.kind) },
            accountEmail: account?.email, loginMethod: plan, statusMessage: status,
            lastUpdated: min(observed, now), rateWindows: windows.isEmpty ? nil : windows,
            budget: budget, credits: credits,
            usageDataConfidence: windows.isEmpty ? nil : "exact")
    }

    /// The time of the newest number: of the main windows, else of anything else.
    private func observedAt(
        main: [(kind: WindowKind, reading: WindowReading)], extras: [Extra]
    ) -> Date? {
        if let newest = main.map(\.reading.observedAt).max() { return newest }
        let former = digest.windows.values.compactMap { $0.newest(at: now)?.observedAt }
        let money = [
            credits == nil ? nil : digest.credits?.at, budget == nil ? nil : digest.spendLimit?.at,
        ]
        return (former + extras.map(\.observedAt) + money.compactMap { $0 }).max()
    }

    private struct Extra {
        var window: SyncRateWindow
        var observedAt: Date
    }

    /// Windows of other buckets (a model with its own limits), labelled with the bucket's name, and
    /// with the window's where a bucket has several.
    private var extraWindows: [Extra] {
        let slots = digest.windows.keys.filter { $0.bucket != CodexRow.mainBucket }
        let live = slots.compactMap { slot in
            digest.windows[slot]?.current(slot.kind, at: now).map { (slot: slot, reading: $0) }
        }
        let byBucket = Dictionary(grouping: live, by: \.slot.bucket)
        let extras = byBucket.keys.sorted().flatMap { bucket -> [Extra] in
            let name = Self.shortName(digest.bucketNames[bucket]?.value ?? bucket)
            let windows = (byBucket[bucket] ?? []).sorted { $0.slot.kind < $1.slot.kind }
            return windows.map { slot, reading in
                let label = windows.count > 1 ? "\(name) \(slot.kind.name)" : name
                return Extra(
                    window: reading.window(slot.kind, label: label),
                    observedAt: reading.observedAt)
            }
        }
        return Array(extras.prefix(Self.extraWindowLimit))
    }

    /// "GPT-5.3-Codex-Spark" → "Spark".
    private static func shortName(_ name: String) -> String {
        guard let end = name.range(of: "-Codex-")?.upperBound, end < name.endIndex else {
            return name
        }
        return String(name[end...])
    }

    /// A rollout's plan, unless the token was renewed later.
    private var plan: String? {
        if account?.usesAPIKey == true { return "API key" }
        var newest = digest.plan
        if let plan = account?.plan {
            newest.keepNewer(Timestamped(value: plan, at: account?.refreshedAt ?? .distantPast))
        }
        return newest.flatMap { CodexPlan.displayName($0.value) }
    }

    private var credits: SyncCredits? {
        guard let credits = digest.credits?.value, credits.hasCredits || credits.isUnlimited else {
            return nil
        }
        return SyncCredits(balance: credits.balance, unlimited: credits.isUnlimited)
    }

    private var budget: SyncBudget? {
        guard let limit = digest.spendLimit?.value else { return nil }
        return limit.resetsAt.map { $0 > now } ?? true ? limit : nil
    }

    private var status: String? {
        var sentences: [String] = []
        if let type = digest.reached[CodexRow.mainBucket]?.value ?? creditsOnlyReachedType,
            isReachedStillTrue
        {
            sentences.append(Self.sentence(forReachedType: type))
        } else if budget != nil, digest.isSpendLimitReached?.value == true {
            sentences.append("Spend limit reached")
        }
        if let resetNotice { sentences.append(resetNotice) }
        return sentences.isEmpty ? nil : sentences.joined(separator: ". ")
    }

    /// Plans without windows report it in whatever bucket they have.
    private var creditsOnlyReachedType: String? {
        guard digest.mainKinds.isEmpty else { return nil }
        return digest.reached.values.max { $0.at < $1.at }?.value
    }

    /// A reached limit ends when the windows observed with it are reset.
    private var isReachedStillTrue: Bool { digest.mainKinds.isEmpty || !mainWindows.isEmpty }

    var resetNotice: String? { WindowKind.resetNotice(expiredKinds) }

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
