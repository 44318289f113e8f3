/// What a model's name says about the cost of its requests.
package struct PriceMatch: Sendable, Hashable {
    package var price: ModelPrice
    /// The tier that the name states, as in "claude-opus-4.8-fast"; standard where it states none.
    package var tier = ServiceTier.standard

    /// - Parameters:
    ///   - tier: as the request states it, which counts before the name's.
    ///   - isRegional: as the request states it; a region in the name is in the price.
    ///   - time: milliseconds since 1970; nil where it is not the request's own.
    package func cost(
        of tokens: TokenCounts, tier: ServiceTier, isRegional: Bool = false, at time: Int64? = nil
    ) -> TokenCost {
        price.cost(of: tokens, tier: tier == .standard ? self.tier : tier, isRegional: isRegional, at: time)
    }

    /// What requests cost of which only the sum is known.
    func cost(ofSum tokens: TokenCounts, tier: ServiceTier, _ surcharge: Surcharge) -> TokenCost {
        price.cost(ofSum: tokens, tier: tier == .standard ? self.tier : tier, surcharge)
    }
}

extension ModelPrice {
    /// The price in one region of a cloud: Claude Sonnet 4.5 and all later models of Anthropic cost 10 %
    /// more there than at the global endpoint; the user's own prices are as they are.
    ///
    /// docs/decisions/0041-prices.md has the sources.
    var ofRegion: ModelPrice {
        let earlier = /claude-(3-.*|4-(opus|sonnet)|(opus|sonnet)-4|opus-4-1)/
        guard !isOwn, provider == "anthropic", name.wholeMatch(of: earlier) == nil else { return self }
        var price = self
        price.standard.multiply(by: 1.1)
        for tier in price.services.keys { price.services[tier]?.multiply(by: 1.1) }
        price.regional = nil
        return price
    }
}

extension ModelPrice.List {
    fileprivate mutating func multiply(by factor: Double) {
        rates.multiply(by: factor)
        for index in longContext.indices { longContext[index].rates.multiply(by: factor) }
    }
}

extension ModelPrice.Rates {
    fileprivate mutating func multiply(by factor: Double) {
        func product(_ rate: Double) -> Double { (rate * factor * 1e6).rounded() / 1e6 }
        input = product(input)
        output = product(output)
        cacheRead = cacheRead.map(product)
        cacheWrite5m = cacheWrite5m.map(product)
        cacheWrite1h = cacheWrite1h.map(product)
    }
}
