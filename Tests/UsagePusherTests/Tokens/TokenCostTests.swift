import ClockZones
import Testing

@testable import UsagePusher

/// Every expectation is computed by hand from the price lists of the providers.
@Suite("Cost of tokens")
struct TokenCostTests {
    /// To a millionth of a US dollar.
    private func dollars(
        _ model: String, _ tier: ServiceTier = .standard, in input: Int = 0, out: Int = 0, reasoning: Int = 0,
        read: Int = 0, write: Int = 0, hour: Int = 0, searches: Int = 0
    ) -> Double? {
        let tokens = TokenCounts(
            input: input, output: out, reasoning: reasoning, cacheRead: read, cacheWrite5m: write, cacheWrite1h: hour,
            webSearches: searches)
        let total = ModelPrices.packaged.cost(of: tokens, model: model, tier: tier).total
        return total.map { ($0 * 1e6).rounded() / 1e6 }
    }

    @Test("each kind of tokens has its price")
    func kinds() {
        // claude-opus-5: 5, 25, 0.5, 6.25, 10 and 0.01 for a search.
        #expect(dollars("claude-opus-4-5", in: 1_000_000) == 5)
        #expect(dollars("claude-opus-5", in: 200_000) == 1)
        #expect(dollars("claude-opus-5", out: 10_000) == 0.25)
        #expect(dollars("claude-opus-5", read: 100_000) == 0.05)
        #expect(dollars("claude-opus-5", write: 8_000) == 0.05)
        #expect(dollars("claude-opus-5", hour: 8_000) == 0.08)
        #expect(dollars("claude-opus-5", searches: 3) == 0.03)
        #expect(dollars("claude-opus-5") == 0)
        // 0.005 + 0.05 + 0.015 + 0.025 + 0.001 + 0.01
        let all = dollars(
            "claude-opus-5", in: 1_000, out: 2_000, reasoning: 500, read: 30_000, write: 4_000, hour: 100, searches: 1)
        #expect(all == 0.106)
    }

    @Test("a prompt above the threshold changes the price of all tokens of its request, output alone does not")
    func longContext() {
        // gpt-5.5: 5, 30, 0.5; above 272,000: 10, 45, 1: 0.36 + 0.03 + 0.1, and 0.72001 + 0.045 + 0.2.
        #expect(dollars("gpt-5.5", in: 72_000, out: 1_000, read: 200_000) == 0.49)
        #expect(dollars("gpt-5.5", in: 72_001, out: 1_000, read: 200_000) == 0.96501)
        #expect(dollars("gpt-5.5", out: 1_000_000) == 30)
        // gemini-2.5-pro: 1.25, 10, 0.125; above 200,000: 2.5, 15, 0.25.
        #expect(dollars("gemini-2.5-pro", in: 200_000, out: 1_000) == 0.26)
        #expect(dollars("gemini-2.5-pro", in: 200_001) == 0.500003)
        // claude-haiku-5-5: above 100,000: 0.5, 2.5, 0.05, 0.625, 1: 0.025 + 0.005 + 0.02.
        #expect(dollars("claude-haiku-5-5", out: 10_000, read: 100_000, hour: 20_000) == 0.05)
        // qwen3-coder-plus has four: up to 32,000, 128,000, 256,000 and above.
        #expect(dollars("qwen3-coder-plus", in: 32_000) == 0.032)
        #expect(dollars("qwen3-coder-plus", in: 100_000) == 0.18)
        #expect(dollars("qwen3-coder-plus", in: 300_000) == 1.8)
    }

    @Test("fast is a factor of all tokens, searches excepted, or the provider's priority prices")
    func fast() {
        // 2 × (0.05 + 0.05 + 0.05) + 0.01
        #expect(dollars("claude-opus-5", .fast, in: 10_000, out: 2_000, read: 100_000, searches: 1) == 0.31)
        // 6 × 0.15 + 0.01: the mode is retired, and in old logs.
        #expect(dollars("claude-opus-4-6", .fast, in: 10_000, out: 2_000, read: 100_000, searches: 1) == 0.91)
        // gpt-5.5 priority: 12.5, 75, 1.25.
        #expect(dollars("gpt-5.5", .fast, in: 10_000, out: 2_000, read: 100_000, searches: 1) == 0.41)
        #expect(dollars("gpt-5.5", .priority, in: 10_000, out: 2_000, read: 100_000, searches: 1) == 0.41)
        // gpt-6-astra ultrafast: 60, 300, 6; above 272,000: 120, 450, 12.
        #expect(dollars("gpt-6-astra", .ultrafast, in: 1_000, out: 1_000, read: 10_000) == 0.42)
        #expect(dollars("gpt-6-astra", .ultrafast, in: 300_000, out: 1_000) == 36.45)
        // gemini-2.5-pro priority above 200,000: 4.5.
        #expect(dollars("gemini-2.5-pro", .priority, in: 300_000) == 1.35)
    }

    @Test("a tier that the provider does not price is a gap")
    func missingTier() throws {
        let prices = ModelPrices.packaged
        let tokens = TokenCounts(input: 1_000, webSearches: 1)
        #expect(prices.cost(of: tokens, model: "claude-sonnet-5", tier: .fast) == TokenCost(priced: 0.01, gaps: .tier))
        #expect(prices.cost(of: tokens, model: "claude-opus-5", tier: .priority).total == nil)
        for (model, tier) in [
            ("claude-opus-5", .flex), ("claude-opus-5", .ultrafast), ("gpt-5.5", .ultrafast), ("glm-5.3", .batch),
            ("gpt-6-astra", .unknown),
        ] as [(String, ServiceTier)] {
            #expect(prices.cost(of: tokens, model: model, tier: tier).gaps.contains(.tier), "\(model) \(tier)")
        }
        // gpt-5.5 has no priority price of prompts above 272,000.
        #expect(prices.cost(of: TokenCounts(input: 300_000), model: "gpt-5.5", tier: .priority).gaps == .tier)
    }

    @Test("a request costs what its hour of the week costs, to the minute, and without an hour the usual prices")
    func offPeak() {
        let tokens = TokenCounts(input: 1_000_000, output: 100_000, cacheRead: 1_000_000)
        func dollars(_ time: Int64?, _ tier: ServiceTier = .standard) -> Double? {
            ModelPrices.packaged.match("deepseek-v4-pro")?.cost(of: tokens, tier: tier, at: time).total
                .map { ($0 * 1e6).rounded() / 1e6 }
        }
        // deepseek-v4-pro: 1.32, 3.96, 0.044; half of it but from 1 to 4 and 6 to 10 o'clock UTC from Monday to Friday.
        for (time, isOffPeak) in [
            ("2026-11-22T23:59:59Z", true), ("2026-11-23T00:00:00Z", true), ("2026-11-23T00:59:59Z", true),
            ("2026-11-23T01:00:00Z", false), ("2026-11-24T02:00:00Z", false), ("2026-11-24T03:59:59Z", false),
            ("2026-11-24T04:00:00Z", true), ("2026-11-25T05:59:59Z", true), ("2026-11-26T06:00:00Z", false),
            ("2026-11-27T09:59:59Z", false), ("2026-11-27T10:00:00Z", true), ("2026-11-24T15:00:00Z", true),
            ("2026-11-28T02:00:00Z", true), ("2026-11-29T07:00:00Z", true),
        ] {
            #expect(dollars(milliseconds(time)) == (isOffPeak ? 0.88 : 1.76), "\(time)")
        }
        #expect(dollars(nil) == 1.76 && dollars(.max) != nil && dollars(.min) == 1.76)
        #expect(dollars(milliseconds("2026-11-24T15:00:00Z"), .priority) == nil)
    }

    @Test("requests of one quarter of an hour are priced apart where hours begin in it; sums of a session as usual")
    func offPeakBounds() throws {
        let rates = ModelPrice.Rates(input: 1, output: 1)
        let offPeak = try #require(
            OffPeak(rates: .init(input: 0.25, output: 0.25), hours: "2 10:07-10:08, 3-4 00:00-24:00"))
        let match = PriceMatch(price: ModelPrice(name: "m", standard: .init(rates: rates), offPeak: offPeak))
        var sums = TokenBuckets()
        for (time, isCoarse) in [
            ("2026-11-24T10:06:59Z", false), ("2026-11-24T10:07:00Z", false), ("2026-11-24T10:07:59Z", false),
            ("2026-11-24T10:08:00Z", false), ("2026-11-24T10:07:30Z", true),
        ] {
            let record = TokenRecord(
                time: milliseconds(time), counts: TokenCounts(input: 1_000_000), id: 0, isCoarse: isCoarse)
            sums.add(TokenBucket(try #require(TokenEntry(record, file: 0, session: 0, model: 0)), price: match))
        }
        #expect(sums.buckets.map { $0.cost.dollars(.auto) } == [2, 0.5, 1])
        var ledger = LedgerPrices(.packaged.replacing(["m": match.price]))
        var clock = ReportClock(zone: .gmt)
        let again = sums.buckets.map { bucket in
            var line = LedgerLine(bucket, model: "m", &clock)
            _ = ledger.recalculate(&line)
            return line.amount.cost.dollars(.auto)
        }
        #expect(again == [2, 0.5, 1])
    }

    @Test("an unknown model has no cost and is not priced as another")
    func unknownModel() {
        let cost = ModelPrices.packaged.cost(of: TokenCounts(input: 1), model: "claude-opus-9")
        #expect(cost == TokenCost(priced: 0, gaps: .model) && cost.total == nil)
    }

    @Test("without a price of searches nobody knows what they cost")
    func missingSearch() {
        let search = ModelPrices.packaged.cost(of: TokenCounts(webSearches: 1), model: "gpt-5-codex")
        #expect(search.gaps == .webSearch && search.total == nil)
    }

    @Test("without a price of reads or writes they cost as input, and Anthropic's rules complete its price lists")
    func missingKinds() {
        // gpt-5.5-pro: 30, 180.
        #expect(dollars("gpt-5.5-pro", in: 1_000, read: 1_000) == 0.06)
        #expect(dollars("gpt-5.5-pro", in: 1_000, write: 1_000) == 0.06)
        // claude-haiku-4-5 is listed without searches, claude-sonnet-4 without long writes for an hour.
        #expect(dollars("claude-haiku-4-5", searches: 1_000) == 10)
        // 150,000 × 6 + 100,000 × 12
        #expect(dollars("claude-sonnet-4-20250514", in: 150_000, hour: 100_000) == 2.1)
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
