import Foundation
import SnapshotModels

/// Keeps the costs of a snapshot up to date while tools are in use, at a bounded share of the machine's time.
///
/// Limits are read at once; costs grow with every answer, and may be some seconds old.
struct TokenTracker: Sendable {
    /// Seconds from one update to the next, except with a complete read of all sources.
    static let interval = 15.0
    /// After an update, none follows for this many times its duration.
    static let restFactor = 20.0
    /// Seconds after which an update stops; the next one goes on.
    static let seconds = 3.0

    private let ledger: TokenLedger
    private let prices: ModelPrices
    private(set) var usage: TokenUsage?
    /// On the environment's clock.
    private var nextUpdate = -Double.infinity

    init(_ ledger: TokenLedger, prices: ModelPrices) {
        self.ledger = ledger
        self.prices = prices
    }

    var isPartial: Bool { usage?.isPartial == true }

    /// - Parameter isDue: whether to update even if the last update was a moment ago.
    mutating func update(in environment: SourceEnvironment, isDue: Bool) {
        let start = environment.monotonicSeconds()
        guard isDue || start >= nextUpdate else { return }
        usage = ledger.update(
            in: environment, prices: prices, options: .init(seconds: Self.seconds))
        let end = environment.monotonicSeconds()
        nextUpdate = end + max(Self.interval, (end - start) * Self.restFactor)
    }

    /// The providers with their costs; a provider that only has costs gets a card of its own.
    func adding(
        costsTo providers: [ProviderUsageSnapshot], names: [String: String], at now: Date
    ) -> [ProviderUsageSnapshot] {
        guard let usage else { return providers }
        var providers = providers
        let summaries = CostSummaries(usage, at: now).byProvider
        for (id, name) in names.sorted(by: { $0.key < $1.key }) {
            guard let (summary, lastRequest) = summaries[id] else { continue }
            if let index = providers.firstIndex(where: { $0.providerID == id }) {
                providers[index].costSummary = summary
            } else {
                providers.append(
                    ProviderUsageSnapshot(
                        providerID: id, providerName: name, lastUpdated: min(lastRequest, now),
                        costSummary: summary))
            }
        }
        return providers
    }
}
