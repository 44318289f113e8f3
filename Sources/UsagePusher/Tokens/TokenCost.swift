/// What one request costs, as far as prices are known.
package struct TokenCost: Sendable, Hashable {
    /// What has no price although there were tokens of it.
    package struct Gaps: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The model, and so everything.
        package static let model = Self(rawValue: 1)
        /// The service tier, and so all tokens.
        package static let tier = Self(rawValue: 2)
        package static let cacheWrite = Self(rawValue: 4)
        package static let webSearch = Self(rawValue: 8)
    }

    /// US dollars for what has a price.
    package var priced = 0.0
    package var gaps: Gaps = []

    package init(priced: Double = 0, gaps: Gaps = []) {
        self.priced = priced
        self.gaps = gaps
    }

    /// US dollars; nil unless everything has a price.
    package var total: Double? { gaps.isEmpty ? priced : nil }
}

extension ModelPrice {
    /// What one request costs.
    ///
    /// The length of the prompt decides the price of all its tokens, output included, as providers
    /// bill it. docs/decisions/0041-prices.md has the sources.
    ///
    /// - Parameters:
    ///   - isRegional: whether it was made where the provider charges more.
    ///   - time: in milliseconds since 1970; nil where it is not known, for the usual prices.
    package func cost(
        of tokens: TokenCounts, tier: ServiceTier = .standard, isRegional: Bool = false, at time: Int64? = nil
    ) -> TokenCost {
        let surcharge = surcharge(of: tokens, isRegional: isRegional, at: time)
        return cost(of: tokens, forPrompt: tokens.prompt, tier: tier, surcharge)
    }

    /// What requests cost of which only the sum is known.
    func cost(ofSum tokens: TokenCounts, tier: ServiceTier, _ surcharge: Surcharge) -> TokenCost {
        let prompt = promptSteps.prefix(surcharge.length).last.map { $0.above + 1 } ?? 0
        return cost(of: tokens, forPrompt: prompt, tier: tier, surcharge)
    }

    func surcharge(of tokens: TokenCounts, isRegional: Bool, at time: Int64?) -> Surcharge {
        Surcharge(
            length: promptSteps.count { tokens.prompt > $0.above }, isRegional: isRegional && regional != nil,
            isOffPeak: time.map { offPeak?.includes($0) ?? false } ?? false)
    }

    /// From which lengths of prompts on other rates hold.
    private var promptSteps: [List.LongContext] {
        standard.longContext.isEmpty ? services[.priority]?.longContext ?? [] : standard.longContext
    }

    private func cost(
        of tokens: TokenCounts, forPrompt prompt: Int, tier: ServiceTier, _ surcharge: Surcharge
    ) -> TokenCost {
        var cost = TokenCost()
        if tokens.webSearches > 0 {
            if let webSearch {
                cost.priced = Double(tokens.webSearches) * webSearch
            } else {
                cost.gaps.insert(.webSearch)
            }
        }
        guard tokens.prompt != 0 || tokens.output != 0 else { return cost }
        guard let (rates, tierFactor) = rates(forPrompt: prompt, tier: tier, isOffPeak: surcharge.isOffPeak) else {
            cost.gaps.insert(.tier)
            return cost
        }
        let factor = tierFactor * (surcharge.isRegional ? regional ?? 1 : 1)
        var millions = 0.0
        func add(_ count: Int, _ rate: Double?, gap: TokenCost.Gaps = []) {
            guard count > 0 else { return }
            if let rate { millions += Double(count) * rate } else { cost.gaps.insert(gap) }
        }
        add(tokens.input, rates.input)
        add(tokens.output, rates.output)
        add(tokens.cacheRead, rates.cacheRead ?? rates.input)
        // Who has no price for it bills it as input.
        add(tokens.cacheWrite5m, rates.cacheWrite5m ?? rates.input)
        add(tokens.cacheWrite1h, rates.cacheWrite1h, gap: .cacheWrite)
        cost.priced += millions * factor / 1_000_000
        return cost
    }

    /// Nil when the provider has no such price. A tool's fast mode is the priority service of
    /// providers that do not state a factor.
    private func rates(forPrompt tokens: Int, tier: ServiceTier, isOffPeak: Bool) -> (Rates, factor: Double)? {
        let usual = standard.rates(forPrompt: tokens)
        switch tier {
        case .standard: return (isOffPeak ? offPeak?.rates ?? usual : usual, 1)
        case .flex: return flex.map { (usual, $0) }
        case .batch: return batch.map { (usual, $0) }
        case .fast where fast != nil: return fast.map { (usual, $0) }
        case .fast, .priority, .ultrafast:
            guard let list = services[tier == .fast ? .priority : tier] else { return nil }
            // Without a price of long prompts the service is not for those that the standard list prices apart.
            if list.longContext.isEmpty, usual != standard.rates { return nil }
            return (list.rates(forPrompt: tokens), 1)
        case .unknown: return nil
        }
    }
}

/// Whose statement of a cost counts, by the names that ccusage gave them.
package enum CostMode: String, Sendable, CaseIterable {
    /// The tool's own where there is one.
    case auto
    /// Always from tokens and prices.
    case calculate
    /// Only the tool's own.
    case display
}
