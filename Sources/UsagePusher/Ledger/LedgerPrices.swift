/// Prices at which the ledger's costs are calculated again.
struct LedgerPrices {
    private let prices: ModelPrices
    private var matches: [String: PriceMatch?] = [:]

    init(_ prices: ModelPrices) { self.prices = prices }

    /// Returns whether the costs are at these prices now: of a model without a price, or where the model is not stated,
    /// they stay as they are.
    mutating func recalculate(_ line: inout LedgerLine) -> Bool {
        let counts = line.amount.counts
        guard let match = line.model.flatMap({ match($0) }),
            let cost = match.cost(ofSum: counts, tier: line.tier, line.surcharge).total
        else { return counts == TokenCounts() }
        line.amount.cost.recalculate(cost)
        return true
    }

    private mutating func match(_ model: String) -> PriceMatch? {
        let match = matches[model] ?? prices.match(model)
        matches[model] = .some(match)
        return match
    }
}
