import Essentials
import SnapshotModels

/// The costs of a snapshot: those of all tools, as of the last update.
struct TokenTracker: Sendable {
    /// Seconds after which an update stops; the next one goes on.
    private static let seconds = 3.0

    let ledger: TokenLedger
    let prices: ModelPrices
    var usage: TokenUsage?
    /// What is spent of budgets.
    var budgets: [ProviderUsageSnapshot] = []
    /// Gets all that is known of tokens, with each update; returns the cards of budgets.
    var onUpdate: @Sendable (TokenUsage) -> [ProviderUsageSnapshot] = { _ in [] }

    /// The tracker with the tokens of the days that are pushed.
    func updated(in environment: SourceEnvironment, at now: Date) -> TokenTracker {
        var updated = self
        var usage = ledger.update(in: environment, prices: prices, options: .init(seconds: Self.seconds))
        updated.budgets = onUpdate(usage)
        usage.keptBuckets = []
        let first = CostSummaries.firstQuarter(at: now)
        usage.buckets.removeAll { $0.key.quarter < first }
        updated.usage = usage
        return updated
    }

    /// The providers with their costs, and budgets; a provider that only has costs gets a card of its own.
    func adding(
        costsTo providers: [ProviderUsageSnapshot], names: [String: String], at now: Date
    ) -> [ProviderUsageSnapshot] {
        guard let usage else { return providers }
        var providers = providers
        let summaries = CostSummaries(usage, at: now).byProvider
        for (id, name) in names.sorted(by: { $0.key < $1.key }) {
            // That files are left to be read is said in the summary.
            let isInSummary = summaries[id] != nil && usage.unreadable[id] == nil && !usage.unlisted.contains(id)
            let gap = isInSummary ? nil : usage.gap(of: id)
            guard summaries[id] != nil || gap != nil else { continue }
            let (summary, lastRequest) = summaries[id] ?? (nil, now)
            let index =
                providers.firstIndex { $0.providerID == id }
                ?? {
                    providers.append(
                        ProviderUsageSnapshot(providerID: id, providerName: name, lastUpdated: min(lastRequest, now)))
                    return providers.endIndex - 1
                }()
            providers[index].costSummary = summary
            if let gap, !providers[index].isError, !providers[index].isIncomplete {
                providers[index].state("Tokens may be missing: \(gap)")
            }
        }
        return providers + budgets
    }
}
