import Foundation
import Testing

@testable import UsagePusher

@Suite("Models without a price")
struct UnpricedModelsTests {
    private static func models(
        _ usage: TokenUsage, _ mode: CostMode = .auto, prices: ModelPrices = .packaged
    ) -> UnpricedModels {
        UnpricedModels(usage, prices: prices, mode: mode)
    }

    @Test("a cost lacks exactly the tokens of the kinds that have no price")
    func tokens() {
        var requests = InventedUsage(prices: .packaged)
        let all = TokenCounts(input: 1, output: 20, cacheRead: 300, cacheWrite5m: 4_000, cacheWrite1h: 50_000)
        // Everything, by a model, a tier; only the writes; nothing, by a price and by the tool's own cost.
        requests.add(of: "claude-new", all)
        requests.add(of: "claude-opus-5", all, tier: .priority)
        requests.add(of: "gemini-2.5-pro", all)
        requests.add(of: "claude-opus-5", all)
        requests.add(of: "claude-new", all, cost: 1)
        requests.add(of: "<synthetic>", TokenCounts())
        let models = Self.models(requests.usage)
        #expect(models.total.cost.unknownTokens == 54_321 * 2 + 50_000)
        #expect(models.total.cost.unknownCount == 3)
        #expect(models.total.cost.unpricedTokens == 54_321 * 3 + 50_000)
        #expect(
            models.models.map {
                "\($0.name ?? "-") \($0.tokens) \($0.requestCount) \($0.gaps.rawValue)"
            }
                == ["claude-new 54321 1 1", "claude-opus-5 54321 1 2", "gemini-2.5-pro 50000 1 4"])
        #expect(Self.models(requests.usage, .calculate).models[0].tokens == 2 * 54_321)
        #expect(Self.models(requests.usage, .display).models.isEmpty)
    }

    @Test("a model of several tools is listed once, and one without a name cannot be priced")
    func tools() {
        var requests = InventedUsage(prices: .packaged)
        requests.add(of: "coder-model", TokenCounts(input: 5), source: "qwen")
        requests.add(of: "coder-model", TokenCounts(input: 6), source: "cline")
        requests.add(of: nil, TokenCounts(input: 20), source: "zed")
        let models = Self.models(requests.usage).models
        #expect(models.map(\.name) == [nil, "coder-model"])
        #expect(models.map(\.providers) == [["zed"], ["cline", "qwen"]])
        #expect(models.map { $0.line == nil } == [true, false])
    }

    @Test("the lines name what is missing, and with numbers for null everything has a price")
    func lines() throws {
        let all = TokenCounts(
            input: 1_000, output: 200, cacheRead: 300, cacheWrite5m: 400, cacheWrite1h: 500, webSearches: 1)
        var requests = InventedUsage(prices: .packaged)
        let some = ModelPrices.packaged.all.enumerated().filter { $0.offset % 3 == 0 }
        for name in some.map(\.element.name) + [
            "gpt-5.5", "gemini-2.5-pro", "qwen3-coder-plus", "claude-opus-4-6",
            "kimi-for-coding", "big-pickle", "a\"b\\c\u{1B}[31m\u{202E}é😀", "glm-5.3-fast",
            "us.anthropic.claude-opus-5", "claude-opus-4.8-fast", "gpt-5.5-fast",
        ] {
            for tier in [ServiceTier.standard, .fast, .priority, .ultrafast] {
                requests.add(of: name, all, tier: tier)
            }
        }
        requests.add(of: "plain", TokenCounts(input: 1, output: 1))
        let lines = Self.models(requests.usage).models.compactMap(\.line)
        #expect(lines.count > 80)
        #expect(lines.contains(#""plain": {"input": null, "output": null}"#))
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { (" "..."~").contains($0) } })
        let text = "{\"models\": {\(lines.joined(separator: ",\n"))}}"
        let unchanged = try ModelPricesDocument(Data(text.utf8))
        #expect(unchanged.models.isEmpty, "a null is a mistake, so that no price is 0 by accident")
        let document = try ModelPricesDocument(Data(text.replacing("null", with: "1").utf8))
        #expect(document.issues == [])
        let prices = ModelPrices.packaged.replacing(document.models)
        var priced = InventedUsage(prices: prices)
        #expect(prices.price(for: "gemini-2.5-pro")?.standard.rates.input == 1.25)
        #expect(prices.price(for: "gpt-5.5")?.standard.longContext.map(\.above) == [272_000])
        for model in Self.models(requests.usage).models {
            for tier in [ServiceTier.standard, .fast, .priority, .ultrafast] where model.line != nil {
                let counts = model.name == "plain" ? TokenCounts(input: 1) : all
                priced.add(of: model.name, counts, tier: tier)
            }
        }
        let left = Self.models(priced.usage, prices: prices).models.filter { $0.gaps != .tier }
        #expect(left.isEmpty, "\(left.map { ($0.name, $0.gaps) })")
    }

    @Test("a fast name in a file costs what the faster service costs")
    func fastName() throws {
        let home = try SampleHome()
        try home.write(
            ".claude/projects/p/s.jsonl",
            #"{"type":"assistant","timestamp":"2026-09-18T09:00:00Z","sessionId":"s","requestId":"r","message":{"id":"m","model":"claude-opus-4-8-fast","usage":{"input_tokens":1000000,"output_tokens":0}}}"#
                + "\n")
        let environment = home.environment()
        let usage = TokenLedger(of: ["claude"], in: environment).update(in: environment, prices: .packaged)
        #expect(usage.buckets.map { $0.cost.dollars(.calculate) } == [10])
    }
}
