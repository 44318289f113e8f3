import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

@Suite("Prices of models")
struct ModelPricesTests {
    private static let dataFile = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Sources/UsagePusher/Tokens/model-prices.json")

    @Test("the table has a date, a source and a version")
    func origin() throws {
        let origin = ModelPrices.packaged.origin
        #expect(origin.date.wholeMatch(of: /20[0-9]{2}-[01][0-9]-[0-3][0-9]/) != nil)
        #expect(origin.source.hasPrefix("https://"))
        #expect(origin.version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
    }

    @Test("the table is a sorted line for each model, small, and without a mistake")
    func table() throws {
        let data = try Data(contentsOf: Self.dataFile)
        #expect(data.count < 80_000)
        let document = try ModelPricesDocument(data)
        #expect(document.issues == [])
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("    \"") }.map { $0.prefix { $0 != ":" } }
        #expect(lines == lines.sorted())
        #expect(lines.count == document.models.count && lines.count > 200)
        #expect(document.models.count == ModelPrices.packaged.all.count)
    }

    @Test("every price is finite, not negative, and not above a thousand dollars")
    func range() {
        for price in ModelPrices.packaged.all {
            let lists = [price.standard] + (price.priority.map { [$0] } ?? [])
            let rates = lists.flatMap { [$0.rates] + $0.longContext.map(\.rates) }
            for rates in rates {
                let kinds = [
                    rates.input, rates.output, rates.cacheRead, rates.cacheWrite5m,
                    rates.cacheWrite1h,
                ].compactMap(\.self)
                #expect(
                    kinds.allSatisfy { $0.isFinite && $0 >= 0 && $0 < 1_000 }, "\(price.name)")
                #expect(rates.input > 0, "\(price.name)")
                #expect(rates.cacheRead ?? 0 <= rates.input, "\(price.name)")
            }
            #expect(price.fast ?? 1 >= 1 && price.webSearch ?? 0 < 1, "\(price.name)")
            #expect(price.provider != nil, "\(price.name)")
        }
    }

    @Test(
        "a model is found under the names that tools and gateways give it",
        arguments: [
            ("claude-opus-5", "claude-opus-5"),
            ("Claude-Opus-5", "claude-opus-5"),
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("claude-opus-5@default", "claude-opus-5"),
            ("claude-opus-5[1m]", "claude-opus-5"),
            ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
            ("anthropic/claude-opus-5", "claude-opus-5"),
            ("openrouter/anthropic/claude-opus-4.8", "claude-opus-4-8"),
            ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
            ("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
            ("bedrock/global.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
            ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            ("claude-opus-4.8", "claude-opus-4-8"),
            ("openai/gpt-5.5", "gpt-5.5"), ("azure/gpt-5.5", "gpt-5.5"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"), ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gemini/gemini-2.5-pro", "gemini-2.5-pro"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("google/gemini-3.8-flash", "gemini-3.8-flash"),
            ("xai/grok-4.5", "grok-4.5"), ("x-ai/grok-4.5", "grok-4.5"),
            ("moonshotai/kimi-k3", "kimi-k3"), ("z-ai/glm-5.3", "glm-5.3"),
            ("MiniMax-M3", "minimax-m3"), ("mistral/devstral-latest", "devstral-latest"),
        ])
    func aliases(asked: String, name: String) {
        #expect(ModelPrices.packaged.price(for: asked)?.name == name)
    }

    @Test(
        "a model that only resembles another has no price",
        arguments: [
            "", "claude", "claude-opus-9", "claude-opus-5-turbo", "claude-opus-5-5-5",
            "claude-opus", "claude-opus-5-", "claude-opus-5-2025", "claude-opus-5-20259999",
            "claude-opus-5:free", "claude-opus-5[2m]", "claude-opus-4.8-fast", "my-claude-opus-5",
            "openai/claude-opus-5", "openai/gemini-2.5-pro", "dashscope/deepseek-v4-pro",
            "openrouter/deepseek/deepseek-v4-pro", "azure/claude-opus-5", "gpt-5.55", "gpt-7",
            "gpt-5-v1:0", "gpt-5-4", "us.claude-opus-5",
            "anthropic/anthropic/anthropic/anthropic/claude-opus-5", "<synthetic>", "\u{0}",
        ])
    func unknown(asked: String) {
        #expect(ModelPrices.packaged.price(for: asked) == nil)
    }

    @Test("a name of any length is looked up within a bound")
    func longNames() {
        let name = String(repeating: "openrouter/", count: 100_000) + "gpt-5"
        #expect(ModelPrices.packaged.price(for: name) == nil)
    }

    @Test("the digest changes with a price and with nothing else")
    func digest() throws {
        let packaged = ModelPrices.packaged
        #expect(packaged.digest == packaged.replacing([:]).digest)
        let own = try ModelPricesDocument(
            Data(#"{"models": {"a": {"input": 1, "output": 2, "fast": 2}}}"#.utf8)
        ).models
        let other = try ModelPricesDocument(
            Data(#"{"models": {"a": {"input": 1, "output": 2, "fast": 3}}}"#.utf8)
        ).models
        #expect(packaged.replacing(own).digest == packaged.replacing(own).digest)
        #expect(
            Set([packaged, packaged.replacing(own), packaged.replacing(other)].map(\.digest)).count
                == 3)
    }
}
