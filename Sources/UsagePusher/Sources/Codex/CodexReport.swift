import Foundation
import SnapshotModels

/// Turns what Codex's files say into what is pushed and shown, for one moment.
struct CodexReport {
    private static let extraWindowLimit = 12

    let digest: CodexDigest
    let account: CodexAccount?
    let now: Date

    /// The main bucket's windows that are still valid, in display order.
    var mainWindows: [(kind: WindowKind, reading: WindowReading)] {
        digest.mainKinds.compactMap { kind in
            digest.current(kind, at: now).map { (kind, $0) }
        }
    }

    /// Kinds of the main bucket's windows that have been reset since they were last seen. A kind
    /// that newer lines of the bucket do not name any more is no part of the plan now.
    var expiredKinds: [WindowKind] {
        let seen = digest.mainKinds.map { ($0, digest.newest($0, before: now)?.observedAt ?? now) }
        guard let newest = seen.map(\.1).max() else { return [] }
        return seen.filter { kind, at in
            digest.current(kind, at: now) == nil && newest.timeIntervalSince(at) <= 60
        }.map(\.0)
    }

    /// Nil when there is nothing to say but, perhaps, who is logged in.
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

    /// The time of the newest number: of the main windows, else of whatever else was told.
    private func observedAt(
        main: [(kind: WindowKind, reading: WindowReading)], extras: [Extra]
    ) -> Date? {
        if let newest = main.map(\.reading.observedAt).max() { return newest }
        let former = digest.windows.values.compactMap { $0.newest(before: now)?.observedAt }
        let money = [
            credits == nil ? nil : digest.credits?.at, budget == nil ? nil : digest.spendLimit?.at,
        ]
        return (former + extras.map(\.observedAt) + money.compactMap { $0 }).max()
    }

    private struct Extra {
        var window: SyncRateWindow
        var observedAt: Date
    }

    /// Other buckets (a model with limits of its own), named after the bucket; several windows of
    /// one bucket say which they are.
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
                let label = windows.count > 1 ? "\(name) \(slot.kind.words)" : name
                return Extra(
                    window: reading.window(slot.kind, label: label),
                    observedAt: reading.observedAt)
            }
        }
        return Array(extras.prefix(Self.extraWindowLimit))
    }

    /// "GPT-5.3-Codex-Spark" is "Spark" beside the provider's name.
    private static func shortName(_ name: String) -> String {
        guard let end = name.range(of: "-Codex-")?.upperBound, end < name.endIndex else {
            return name
        }
        return String(name[end...])
    }

    /// A rollout's plan is newer than the token's, unless the token was renewed since.
    private var plan: String? {
        if account?.usesAPIKey == true { return "API key" }
        var newest = digest.plan
        if let plan = account?.plan {
            newest.keepNewer(Dated(value: plan, at: account?.refreshedAt ?? .distantPast))
        }
        return newest.flatMap { CodexPlan.shownName($0.value) }
    }

    private var credits: SyncCredits? {
        guard let credits = digest.credits?.value, credits.hasCredits || credits.isUnlimited else {
            return nil
        }
        return SyncCredits(balance: credits.balance, unlimited: credits.isUnlimited)
    }

    private var budget: SyncBudget? {
        guard let spend = digest.spendLimit?.value, spend.resetsAt.map({ $0 > now }) ?? true else {
            return nil
        }
        return SyncBudget(
            usedAmount: spend.used, limitAmount: spend.limit, currencyCode: "credits",
            resetsAt: spend.resetsAt)
    }

    private var status: String? {
        var sentences: [String] = []
        if let type = digest.reached[CodexRow.mainBucket]?.value ?? creditsOnlyReachedType,
            isReachedStillTrue
        {
            sentences.append(Self.words(forReachedType: type))
        } else if budget != nil, digest.isSpendLimitReached?.value == true {
            sentences.append("Spend limit reached")
        }
        if let words = expiredWords { sentences.append(words) }
        return sentences.isEmpty ? nil : sentences.joined(separator: ". ")
    }

    /// Plans without windows report in whatever bucket they have.
    private var creditsOnlyReachedType: String? {
        guard digest.mainKinds.isEmpty else { return nil }
        return digest.reached.values.max { $0.at < $1.at }?.value
    }

    /// A limit that was reached is over when the windows seen with it have been reset.
    private var isReachedStillTrue: Bool { digest.mainKinds.isEmpty || !mainWindows.isEmpty }

    /// Says that a number is missing because its window is over, and not because it is 0.
    var expiredWords: String? {
        let names = expiredKinds.map(\.words)
        guard !names.isEmpty else { return nil }
        let subject =
            names.count == 1
            ? "The \(names[0]) limit has" : "The \(names.joined(separator: " and ")) limits have"
        return subject + " been reset since the last reading"
    }

    private static func words(forReachedType type: String) -> String {
        switch type {
        case "workspace_owner_credits_depleted": "The workspace's credits are used up"
        case "workspace_member_credits_depleted": "Your workspace credits are used up"
        case "workspace_owner_usage_limit_reached": "The workspace's usage limit is reached"
        case "workspace_member_usage_limit_reached": "Your workspace usage limit is reached"
        default: "Rate limit reached"
        }
    }
}
