import Testing

@testable import UsagePusher

/// Every expectation is computed by hand from the price lists of the providers.
@Suite("Cost of tokens")
struct TokenCostTests {
    private func dollars(_ tokens: TokenCounts, _ model: String, tier: ServiceTier = .standard) throws -> Double? {
        let cost = ModelPrices.packaged.cost(of: tokens, model: model, tier: tier)
        // To a millionth of a dollar.
        return cost.total.map { ($0 * 1e6).rounded() / 1e6 }
    }

    @Test("each kind of tokens has its price")
    func kinds() throws {
        // claude-opus-5: 5, 25, 0.5, 6.25, 10 and 0.01 for a search.
        #expect(try dollars(TokenCounts(input: 1_000_000), "claude-opus-4-5") == 5)
        #expect(try dollars(TokenCounts(input: 200_000), "claude-opus-5") == 1)
        #expect(try dollars(TokenCounts(output: 10_000), "claude-opus-5") == 0.25)
        #expect(try dollars(TokenCounts(cacheRead: 100_000), "claude-opus-5") == 0.05)
        #expect(try dollars(TokenCounts(cacheWrite5m: 8_000), "claude-opus-5") == 0.05)
        #expect(try dollars(TokenCounts(cacheWrite1h: 8_000), "claude-opus-5") == 0.08)
        #expect(try dollars(TokenCounts(webSearches: 3), "claude-opus-5") == 0.03)
        #expect(
            try dollars(
                TokenCounts(
                    input: 1_000, output: 2_000, reasoning: 500, cacheRead: 30_000,
                    cacheWrite5m: 4_000, cacheWrite1h: 100, webSearches: 1), "claude-opus-5")
                // 0.005 + 0.05 + 0.015 + 0.025 + 0.001 + 0.01
                == 0.106)
        #expect(try dollars(TokenCounts(), "claude-opus-5") == 0)
    }

    @Test("a prompt above the threshold changes the price of all tokens of its request")
    func longContext() throws {
        // gpt-5.5: 5, 30, 0.5; above 272,000: 10, 45, 1.
        #expect(
            try dollars(TokenCounts(input: 72_000, output: 1_000, cacheRead: 200_000), "gpt-5.5")
                // 0.36 + 0.03 + 0.1
                == 0.49)
        #expect(
            try dollars(TokenCounts(input: 72_001, output: 1_000, cacheRead: 200_000), "gpt-5.5")
                // 0.72001 + 0.045 + 0.2
                == 0.96501)
        // gemini-2.5-pro: 1.25, 10, 0.125; above 200,000: 2.5, 15, 0.25.
        #expect(try dollars(TokenCounts(input: 200_000, output: 1_000), "gemini-2.5-pro") == 0.26)
        #expect(try dollars(TokenCounts(input: 200_001), "gemini-2.5-pro") == 0.500003)
        // claude-haiku-5-5: above 100,000: 0.5, 2.5, 0.05, 0.625, 1.
        #expect(
            try dollars(TokenCounts(output: 10_000, cacheRead: 100_000, cacheWrite1h: 20_000), "claude-haiku-5-5")
                // 0.025 + 0.005 + 0.02
                == 0.05)
        // qwen3-coder-plus has four: up to 32,000, 128,000, 256,000 and above.
        #expect(try dollars(TokenCounts(input: 32_000), "qwen3-coder-plus") == 0.032)
        #expect(try dollars(TokenCounts(input: 100_000), "qwen3-coder-plus") == 0.18)
        #expect(try dollars(TokenCounts(input: 300_000), "qwen3-coder-plus") == 1.8)
    }

    @Test("output alone does not count as a long prompt")
    func output() throws {
        #expect(try dollars(TokenCounts(output: 1_000_000), "gpt-5.5") == 30)
    }

    @Test("fast is a factor of all tokens, searches excepted, or the provider's priority prices")
    func fast() throws {
        let tokens = TokenCounts(input: 10_000, output: 2_000, cacheRead: 100_000, webSearches: 1)
        // 2 × (0.05 + 0.05 + 0.05) + 0.01
        #expect(try dollars(tokens, "claude-opus-5", tier: .fast) == 0.31)
        // 6 × 0.15 + 0.01: the mode is retired, and in old logs.
        #expect(try dollars(tokens, "claude-opus-4-6", tier: .fast) == 0.91)
        // gpt-5.5 priority: 12.5, 75, 1.25.
        #expect(try dollars(tokens, "gpt-5.5", tier: .fast) == 0.41)
        #expect(try dollars(tokens, "gpt-5.5", tier: .priority) == 0.41)
        // gemini-2.5-pro priority above 200,000: 4.5.
        #expect(try dollars(TokenCounts(input: 300_000), "gemini-2.5-pro", tier: .priority) == 1.35)
    }

    @Test("a tier that the provider does not price is a gap")
    func missingTier() throws {
        let prices = ModelPrices.packaged
        let tokens = TokenCounts(input: 1_000, webSearches: 1)
        #expect(prices.cost(of: tokens, model: "claude-sonnet-5", tier: .fast) == TokenCost(priced: 0.01, gaps: .tier))
        #expect(prices.cost(of: tokens, model: "claude-opus-5", tier: .priority).total == nil)
        // gpt-5.5 has no priority price of prompts above 272,000.
        #expect(prices.cost(of: TokenCounts(input: 300_000), model: "gpt-5.5", tier: .priority).gaps == .tier)
    }

    @Test("an unknown model has no cost and is not priced as another")
    func unknownModel() {
        let cost = ModelPrices.packaged.cost(of: TokenCounts(input: 1), model: "claude-opus-9")
        #expect(cost == TokenCost(priced: 0, gaps: .model) && cost.total == nil)
    }

    @Test("without a price of reads or writes they cost as input, without one of searches nobody knows")
    func missingKinds() throws {
        // gpt-5.5-pro: 30, 180.
        #expect(try dollars(TokenCounts(input: 1_000, cacheRead: 1_000), "gpt-5.5-pro") == 0.06)
        #expect(try dollars(TokenCounts(input: 1_000, cacheWrite5m: 1_000), "gpt-5.5-pro") == 0.06)
        let search = ModelPrices.packaged.cost(of: TokenCounts(webSearches: 1), model: "gpt-5-codex")
        #expect(search.gaps == .webSearch && search.total == nil)
    }

    @Test("Anthropic's rules complete its price lists")
    func providerRules() throws {
        // claude-haiku-4-5 is listed without searches, claude-sonnet-4 without long writes for an hour.
        #expect(try dollars(TokenCounts(webSearches: 1_000), "claude-haiku-4-5") == 10)
        #expect(
            try dollars(TokenCounts(input: 150_000, cacheWrite1h: 100_000), "claude-sonnet-4-20250514")
                // 150,000 × 6 + 100,000 × 12
                == 2.1)
    }

    @Test("counts that no request has do not trap")
    func hostileCounts() {
        let tokens = TokenCounts(input: .max, output: .max, cacheRead: .max, cacheWrite5m: .min, webSearches: .max)
        for tier in [ServiceTier.standard, .fast, .priority] {
            let cost = ModelPrices.packaged.cost(of: tokens, model: "claude-opus-5", tier: tier)
            #expect(cost.priced.isFinite)
        }
    }

    @Test(
        "a mode says whose cost counts",
        arguments: [
            (CostMode.auto, 1.0, 2.0, 1.0), (.auto, 0, 2, 0), (.auto, nil, 2, 2),
            (.auto, .nan, 2, 2), (.auto, -1, 2, 2), (.calculate, 1, 2, 2), (.calculate, 1, nil, 0),
            (.display, 1, 2, 1), (.display, nil, 2, 0), (.display, -1, 2, 0),
        ] as [(CostMode, Double?, Double?, Double)])
    func modes(mode: CostMode, own: Double?, calculated: Double?, expected: Double) {
        let cost = calculated.map { TokenCost(priced: $0) } ?? TokenCost(gaps: .model)
        let sums = CostSums(own: own ?? .nan, calculated: cost, tokens: TokenCounts())
        #expect(sums.dollars(mode) == expected)
    }
}

extension ModelPrices {
    /// What one request costs.
    func cost(of tokens: TokenCounts, model: String, tier: ServiceTier = .standard) -> TokenCost {
        price(for: model)?.cost(of: tokens, tier: tier) ?? TokenCost(gaps: .model)
    }
}
