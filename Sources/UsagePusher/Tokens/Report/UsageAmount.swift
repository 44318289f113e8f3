/// What requests add up to.
package struct UsageAmount: Sendable, Hashable {
    package var requestCount = 0
    package var counts = TokenCounts()
    package var cost = CostSums()
    /// Tokens of sessions whose tool does not tell the time of each request: they may be of an earlier day.
    package var coarseTokens = 0
    /// Tokens that are known from another counter alone.
    package var importedTokens = 0
    /// Requests whose cost could not be calculated again.
    package var keptCostCount = 0

    package init() {}

    mutating func add(_ bucket: TokenBucket) {
        requestCount &+= bucket.requestCount
        counts += bucket.counts
        cost += bucket.cost
        if bucket.key.isCoarse { coarseTokens &+= bucket.counts.total }
        if bucket.key.isImported { importedTokens &+= bucket.counts.total }
        if bucket.key.keepsCost { keptCostCount &+= bucket.requestCount }
    }

    static func += (sum: inout UsageAmount, amount: UsageAmount) {
        sum.requestCount &+= amount.requestCount
        sum.counts += amount.counts
        sum.cost += amount.cost
        sum.coarseTokens &+= amount.coarseTokens
        sum.importedTokens &+= amount.importedTokens
        sum.keptCostCount &+= amount.keptCostCount
    }
}

extension CostSums {
    /// Requests whose cost is not, or not wholly, in `dollars(mode)`.
    package func unknownCount(_ mode: CostMode) -> Int {
        switch mode {
        case .auto: unknownCount
        case .calculate: unpricedCount
        case .display: 0
        }
    }

    /// Their tokens that are not in it.
    package func unknownTokens(_ mode: CostMode) -> Int {
        switch mode {
        case .auto: unknownTokens
        case .calculate: unpricedTokens
        case .display: 0
        }
    }
}

extension UsageAmount {
    /// Which part of the tokens is not in `cost`: 0 to 1.
    package func unknownShare(_ mode: CostMode) -> Double {
        counts.total > 0 ? min(1, Double(cost.unknownTokens(mode)) / Double(counts.total)) : 0
    }
}

/// The requests to one model.
package struct ModelUsage: Sendable, Hashable {
    /// As the tool names it, with "-fast" after it for a provider's faster mode; "unknown" where the tool names none.
    package var name: String
    package var amount: UsageAmount
}

/// The requests of a day, a session, a block by model.
struct ModelSums: Sendable {
    /// By `Name`, in the order of first use.
    private(set) var amounts: [(name: Name, amount: UsageAmount)] = []

    /// Distinguishes models and faster modes.
    struct Name: Hashable {
        var model: UInt16
        var isFast: Bool
    }

    mutating func add(_ bucket: TokenBucket) {
        let name = Name(model: bucket.key.model, isFast: bucket.key.tier == .fast)
        // Few models are used in one day.
        let index = amounts.lastIndex { $0.name == name } ?? amounts.count
        if index == amounts.count { amounts.append((name, UsageAmount())) }
        amounts[index].amount.add(bucket)
    }

    /// Whether there are no tokens.
    var isEmpty: Bool { amounts.allSatisfy { $0.amount.counts.total == 0 } }

    var total: UsageAmount { amounts.reduce(into: UsageAmount()) { $0 += $1.amount } }

    /// Without what has neither model nor tokens: a tool's own messages.
    func models(_ names: [String]) -> [ModelUsage] {
        amounts.compactMap { name, amount in
            guard names.indices.contains(Int(name.model)) else {
                return amount.counts.total == 0 ? nil : ModelUsage(name: "unknown", amount: amount)
            }
            return ModelUsage(name: names[Int(name.model)] + (name.isFast ? "-fast" : ""), amount: amount)
        }
    }
}

extension [ModelUsage] {
    /// The dearest first.
    package func byCost(_ mode: CostMode) -> [ModelUsage] {
        sorted {
            let costs = ($0.amount.cost.dollars(mode), $1.amount.cost.dollars(mode))
            if costs.0 != costs.1 { return costs.0 > costs.1 }
            if $0.amount.counts.total != $1.amount.counts.total {
                return $0.amount.counts.total > $1.amount.counts.total
            }
            return $0.name < $1.name
        }
    }

    /// The models of which not every request has a price, each once; those with the most tokens first.
    func unknown(_ mode: CostMode) -> [ModelUsage] {
        var byName: [String: UsageAmount] = [:]
        for model in self where model.amount.cost.unknownCount(mode) > 0 {
            byName[model.name, default: UsageAmount()] += model.amount
        }
        return byName.map(ModelUsage.init).sorted {
            ($1.amount.counts.total, $0.name) < ($0.amount.counts.total, $1.name)
        }
    }
}
