import Foundation
import Testing

@testable import UsagePusher

@Suite("Names of models")
struct ModelNamesTests {
    /// What a tool writes by itself, and the price that it has; nil with the reason that the price list
    /// cannot tell what it costs.
    enum Priced: Equatable {
        case price(String, ServiceTier = .standard)
        case unpriced(String)
    }

    private func expect(_ asked: String, _ priced: Priced, _ comment: String) {
        let match = ModelPrices.packaged.match(asked)
        switch priced {
        case .price(let name, let tier):
            #expect(match?.price.name == name && match?.tier == tier, "\(comment)")
        case .unpriced(let reason):
            #expect(match == nil, "\(comment): \(reason)")
        }
    }

    private static let moves = "the name stays while the tool puts another model behind it"
    private static let own = "a model of the tool's own, on no price list"
    private static let route = "a gateway's choice of a model, whose name it does not write"
    private static let free = "free for now; a price of 0 would stay when it no longer is"

    /// From the tools' sources, settings and documents; see docs/tools.md.
    private static let names: [(tool: String, names: [(String, Priced)])] = [
        (
            "claude",
            [
                ("claude-opus-5-5", .price("claude-opus-5-5")),
                ("claude-sonnet-5", .price("claude-sonnet-5")),
                ("claude-sonnet-4-5-20250929", .price("claude-sonnet-4-5")),
                ("claude-haiku-4-5-20251001", .price("claude-haiku-4-5")),
                ("claude-opus-4-1-20250805", .price("claude-opus-4-1")),
                ("claude-sonnet-4-20250514", .price("claude-sonnet-4")),
                ("claude-3-5-haiku-20241022", .price("claude-3-5-haiku")),
                ("claude-opus-5[1m]", .price("claude-opus-5")),
                ("us.anthropic.claude-opus-4-8", .price("claude-opus-4-8")),
                ("<synthetic>", .unpriced("a message of the tool itself, without tokens")),
            ]
        ),
        (
            "codex",
            [
                ("gpt-5", .price("gpt-5")), ("gpt-5-codex", .price("gpt-5-codex")),
                ("gpt-5.1-codex-max", .price("gpt-5.1-codex-max")),
                ("gpt-5.1-codex-mini", .price("gpt-5.1-codex-mini")), ("gpt-5.2-codex", .price("gpt-5.2-codex")),
                ("gpt-5.3-codex", .price("gpt-5.3-codex")), ("gpt-5.4", .price("gpt-5.4")),
                ("gpt-5.5", .price("gpt-5.5")), ("gpt-5.6-sol", .price("gpt-5.6-sol")),
                ("gpt-6-sol", .price("gpt-6-sol")), ("codex-mini-latest", .price("codex-mini-latest")),
                ("gpt-5.3-codex-spark", .unpriced("in subscriptions only")), ("codex-auto-review", .unpriced(moves)),
            ]
        ),
        (
            "gemini",
            [
                ("gemini-2.5-pro", .price("gemini-2.5-pro")),
                ("gemini-2.5-flash-lite", .price("gemini-2.5-flash-lite")),
                ("gemini-3-pro-preview", .price("gemini-3-pro-preview")),
                ("gemini-3-flash-preview", .price("gemini-3-flash-preview")),
                ("gemini-3.1-pro-preview-customtools", .price("gemini-3.1-pro-preview")),
                ("gemini-3.8-flash", .price("gemini-3.8-flash")),
            ]
        ),
        (
            "qwen",
            [
                ("qwen3-coder-plus", .price("qwen3-coder-plus")), ("qwen3-coder-flash", .price("qwen3-coder-flash")),
                ("qwen3.7-max", .price("qwen3.7-max")), ("coder-model", .unpriced(moves)),
                ("vision-model", .unpriced(moves)),
            ]
        ),
        (
            "kimi",
            [
                ("kimi-for-coding", .unpriced(moves)), ("kimi-for-coding-highspeed", .unpriced(moves)),
                ("k3", .price("kimi-k3")), ("kimi-code/k3", .price("kimi-k3")),
                ("kimi-code/kimi-for-coding", .unpriced(moves)),
                ("kimi-k2-turbo-preview", .price("kimi-k2-turbo-preview")),
                ("kimi-k2-thinking-turbo", .price("kimi-k2-thinking-turbo")), ("kimi-k2.5", .price("kimi-k2.5")),
            ]
        ),
        (
            "grok",
            [
                ("grok-code-fast-1", .price("grok-code-fast-1")), ("grok-build-0.1", .price("grok-build-0.1")),
                ("grok-4.7", .price("grok-4.7")), ("grok-build", .unpriced(moves)),
                ("grok-composer-2.5-fast", .unpriced(own)), ("grok-4.7-build-fast", .unpriced("in subscriptions only")),
            ]
        ),
        (
            "copilot",
            [
                ("claude-sonnet-4.5", .price("claude-sonnet-4-5")), ("claude-sonnet-4", .price("claude-sonnet-4")),
                ("claude-opus-4.6-1m", .price("claude-opus-4-6")),
                ("claude-opus-4.8-fast", .price("claude-opus-4-8", .fast)),
                ("claude-3.7-sonnet-thought", .price("claude-3-7-sonnet")), ("gpt-5-mini", .price("gpt-5-mini")),
                ("gpt-5.3-codex", .price("gpt-5.3-codex")), ("gemini-3-pro-preview", .price("gemini-3-pro-preview")),
                ("grok-code-fast-1", .price("grok-code-fast-1")), ("auto", .unpriced(route)),
                ("raptor-mini", .unpriced(own)), ("mai-code-1-flash", .unpriced(own)),
            ]
        ),
        (
            "opencode",
            [
                ("claude-sonnet-5", .price("claude-sonnet-5")),
                ("anthropic/claude-opus-4.5", .price("claude-opus-4-5")),
                ("opencode/claude-opus-4-5", .price("claude-opus-4-5")),
                ("gemini-3-pro", .price("gemini-3-pro-preview")), ("glm-4.6", .price("glm-4.6")),
                ("k2p6", .price("kimi-k2.6")), ("gpt-5.5-fast", .price("gpt-5.5", .fast)),
                ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", .price("claude-sonnet-4-5")),
                ("big-pickle", .unpriced(free)), ("grok-code", .unpriced(free)), ("minimax-m2.5-free", .unpriced(free)),
                ("gpt-oss:20b", .unpriced("on the user's machine")),
            ]
        ),
        (
            "cursor",
            [
                ("claude-4.5-sonnet", .price("claude-sonnet-4-5")),
                ("claude-4.5-sonnet-thinking", .price("claude-sonnet-4-5")),
                ("claude-4.5-opus-high-thinking", .price("claude-opus-4-5")),
                ("gpt-5.1-codex-high-fast", .price("gpt-5.1-codex", .fast)),
                ("default", .unpriced(route)), ("composer-1", .unpriced(own)),
            ]
        ),
        (
            "amp",
            [
                ("claude-opus-4-5-20251101", .price("claude-opus-4-5")),
                ("claude-haiku-4-5-20251001", .price("claude-haiku-4-5")),
                ("gpt-5.1", .price("gpt-5.1")),
                ("accounts/fireworks/models/qwen3-coder-480b", .unpriced("another cloud's price")),
            ]
        ),
        (
            "factory",
            [
                ("claude-opus-4-5-20251101", .price("claude-opus-4-5")),
                ("claude-sonnet-4-5-20250929", .price("claude-sonnet-4-5")), ("gpt-5.1-codex", .price("gpt-5.1-codex")),
                ("glm-4.6", .price("glm-4.6")), ("my-local-model", .unpriced("a model of the user's own")),
            ]
        ),
        (
            "goose",
            [
                ("claude-sonnet-4-0", .price("claude-sonnet-4")),
                ("claude-3-5-sonnet-latest", .price("claude-3-5-sonnet")),
                ("gpt-4o", .price("gpt-4o")),
                ("gemini-3-flash-preview", .price("gemini-3-flash-preview")),
                ("databricks-claude-sonnet-4", .unpriced("another cloud's price")),
                ("qwen2.5", .unpriced("on the user's machine")),
            ]
        ),
        (
            "cline",
            [
                ("anthropic/claude-sonnet-4.5", .price("claude-sonnet-4-5")),
                ("anthropic/claude-sonnet-4:1m", .price("claude-sonnet-4")),
                ("claude-sonnet-4-20250514:1m", .price("claude-sonnet-4")),
                ("claude-opus-4-8:fast", .price("claude-opus-4-8", .fast)),
                ("x-ai/grok-code-fast-1", .price("grok-code-fast-1")),
                ("x-ai/grok-4-fast", .price("grok-4-fast-reasoning")),
                ("deepseek/deepseek-r1-0528", .price("deepseek-r1")),
                ("moonshotai/kimi-k2-0905", .price("kimi-k2-0905-preview")),
                ("minimax/minimax-m2.5:free", .unpriced(free)),
                ("cline/code-supernova-1-million", .unpriced(free)),
            ]
        ),
        (
            "roocode",
            [
                ("claude-sonnet-4-5", .price("claude-sonnet-4-5")),
                ("anthropic/claude-3.7-sonnet:thinking", .price("claude-3-7-sonnet")),
                ("anthropic/claude-3.5-sonnet:beta", .price("claude-3-5-sonnet")),
                ("xai/grok-code-fast-1", .price("grok-code-fast-1")),
                ("roo/code-supernova", .unpriced(free)),
            ]
        ),
        (
            "kilo",
            [
                ("anthropic/claude-sonnet-4.6", .price("claude-sonnet-4-6")), ("openai/gpt-5.5", .price("gpt-5.5")),
                ("kilo-auto/frontier", .unpriced(route)), ("kilo/auto", .unpriced(route)),
            ]
        ),
        (
            "zed",
            [
                ("claude-sonnet-4-5-thinking-latest", .price("claude-sonnet-4-5")),
                ("claude-sonnet-4-5-1m-context-latest", .price("claude-sonnet-4-5")),
                ("claude-opus-4-1-latest", .price("claude-opus-4-1")),
                ("gpt-5.2", .price("gpt-5.2")),
                ("gemini-3.1-pro", .price("gemini-3.1-pro-preview")),
            ]
        ),
    ]

    @Test("every tool's own names of its models have a price, or none for a reason")
    func defaults() {
        for (tool, names) in Self.names {
            for (name, priced) in names { expect(name, priced, "\(tool) \(name)") }
        }
        let logs = UsageSources.all.compactMap { $0 as? any TokenRecording }.flatMap(\.tokenLogs)
        #expect(Set(logs.map(\.source)).subtracting(Self.names.map(\.tool)) == [])
    }

    @Test(
        "a model is found by its prefix, suffix and date",
        arguments: [
            ("Claude-Opus-5", .price("claude-opus-5")), ("claude-sonnet-4-5@20250929", .price("claude-sonnet-4-5")),
            ("claude-opus-5@default", .price("claude-opus-5")),
            ("claude-sonnet-4-5-20250929[1m]", .price("claude-sonnet-4-5")),
            ("openrouter/anthropic/claude-opus-4.8", .price("claude-opus-4-8")),
            ("anthropic.claude-opus-4-6-v1", .price("claude-opus-4-6")),
            ("bedrock/global.anthropic.claude-sonnet-4-20250514-v1:0", .price("claude-sonnet-4")),
            ("vertex_ai/claude-haiku-4-5@20251001", .price("claude-haiku-4-5")), ("azure/gpt-5.5", .price("gpt-5.5")),
            ("gpt-5-2025-08-07", .price("gpt-5")), ("gpt-5-0807", .price("gpt-5")),
            ("gpt-5@2025-08-07", .price("gpt-5")), ("gpt-4o-2024-05-13", .price("gpt-4o-2024-05-13")),
            ("gpt-4o-2024-08-06", .price("gpt-4o")), ("gpt-4-0613", .price("gpt-4-0613")),
            ("deepseek-v3-250324", .price("deepseek-v3")),
            ("gemini-3-flash-preview-12-2025", .price("gemini-3-flash-preview")),
            ("gemini-2.5-pro-preview-05-06", .price("gemini-2.5-pro-preview-05-06")),
            ("models/gemini-2.5-pro", .price("gemini-2.5-pro")),
            ("google/gemini-3.8-flash", .price("gemini-3.8-flash")), ("moonshotai/kimi-k3", .price("kimi-k3")),
            ("z-ai/glm-5.3", .price("glm-5.3")), ("MiniMax-M3", .price("minimax-m3")),
            ("mistral/devstral-latest", .price("devstral-latest")), ("gpt-5.5-high", .price("gpt-5.5")),
            ("gpt-5.5-xhigh", .price("gpt-5.5")), ("gpt-5.5 (high)", .price("gpt-5.5")),
            ("gpt-5.5(max)", .price("gpt-5.5")), ("gpt-5.1-codex-max-xhigh", .price("gpt-5.1-codex-max")),
            ("gpt-5.1-codex-max", .price("gpt-5.1-codex-max")), ("o3-high", .price("o3")),
            ("claude-opus-5(16384)", .price("claude-opus-5")), ("gemini-3-pro-low", .price("gemini-3-pro-preview")),
            ("gpt-5.5-high-fast", .price("gpt-5.5", .fast)), ("gpt-5.5-fast-high", .price("gpt-5.5", .fast)),
            ("openai/gpt-5.5-2026-04-23-fast", .price("gpt-5.5", .fast)), ("grok-code-fast", .price("grok-code-fast")),
            ("grok-4-fast", .price("grok-4-fast-reasoning")), ("grok-4.1-fast", .price("grok-4-1-fast")),
            ("mistral-vibe-cli-fast", .price("mistral-vibe-cli-fast")), ("glm-5.3-fast", .price("glm-5.3", .fast)),
            ("grok-4.6-latest", .price("grok-4.6")),
        ] as [(String, Priced)])
    func rules(asked: String, priced: Priced) {
        expect(asked, priced, "\(asked)")
    }

    @Test(
        "a model that only resembles another has no price",
        arguments: [
            "", "claude", "claude-opus-9", "claude-opus-5-turbo", "claude-opus-5-5-5", "claude-opus", "claude-opus-5-",
            "claude-opus-5-2025", "claude-opus-5-20259999", "claude-opus-5:free", "claude-opus-5[2m]",
            "my-claude-opus-5", "claude-opus-latest", "claude-opus-5-20260101-20260102", "claude-opus-5-fast-fast",
            "claude-opus-5-0", "openai/claude-opus-5", "openai/gemini-2.5-pro", "dashscope/deepseek-v4-pro",
            "openrouter/deepseek/deepseek-v4-pro", "azure/claude-opus-5", "gpt-5.55", "gpt-7", "gpt-5-v1:0", "gpt-5-4",
            "us.claude-opus-5", "gpt-5.5-max", "gpt-5.5-turbo-high", "qwen3.9-max", "mistral-medium-2601",
            "kimi-k2-thinking-fast-high", "gpt-5.5-thinking", "gpt-5.5()", "gpt-5.5(12345678)", "grok-5-fast",
            "glm-5.3:thinking", "gpt-5.5-1m", "us-gov.anthropic.claude-opus-5", "claude-6-opus", "claude-5-opus-fast-x",
            "anthropic/anthropic/anthropic/anthropic/claude-opus-5", "<synthetic>", "\u{0}",
        ])
    func unknown(asked: String) {
        #expect(ModelPrices.packaged.match(asked) == nil)
    }

    @Test("a fast name costs what the model's faster service costs, or nothing known")
    func fast() throws {
        let tokens = TokenCounts(input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000)
        func dollars(_ name: String, _ tokens: TokenCounts, _ tier: ServiceTier = .standard) -> Double? {
            ModelPrices.packaged.match(name)?.cost(of: tokens, tier: tier).total
        }
        // GitHub's own prices: $10, $50 and $1.
        #expect(dollars("claude-opus-4.8-fast", tokens) == 61)
        #expect(dollars("claude-opus-4.8", tokens, .fast) == 61)
        #expect(dollars("claude-opus-4.8-fast", tokens, .fast) == 61)
        let short = TokenCounts(input: 100_000, output: 10_000)
        #expect(dollars("gpt-5.5-fast", short) == 1.25 + 0.75)
        // The service is not for prompts of more than 272,000 tokens.
        #expect(dollars("gpt-5.5-fast", TokenCounts(input: 300_000)) == nil)
        #expect(dollars("glm-5.3-fast", short) == nil)
        #expect(dollars("grok-code-fast-1", short) != nil)
    }

    @Test(
        "a region in a name costs 10 % more for Claude Sonnet 4.5 and later",
        arguments: [
            ("us.anthropic.claude-opus-5-5", 4.4, 22.0, 0.22, 5.5, 8.8),
            ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", 1.1, 5.5, 0.11, 1.375, 2.2),
            ("apac.anthropic.claude-sonnet-4-6", 3.3, 16.5, 0.33, 4.125, 6.6),
            ("bedrock/jp.anthropic.claude-sonnet-5", 2.2, 11, 0.22, 2.75, 4.4),
            ("au.anthropic.claude-opus-4-6-v1", 5.5, 27.5, 0.55, 6.875, 11),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", 5.5, 27.5, 0.55, 6.875, 11),
            ("us.anthropic.claude-fable-5", 11, 55, 1.1, 13.75, 22),
            ("global.anthropic.claude-opus-4-7", 5, 25, 0.5, 6.25, 10),
            ("anthropic.claude-opus-4-7", 5, 25, 0.5, 6.25, 10),
            ("claude-opus-4-7@20260401", 5, 25, 0.5, 6.25, 10),
            ("us.anthropic.claude-opus-4-1-20250805-v1:0", 15, 75, 1.5, 18.75, 30),
            ("eu.anthropic.claude-sonnet-4-20250514-v1:0", 3, 15, 0.3, 3.75, 6),
            ("us.anthropic.claude-3-5-haiku-20241022-v1:0", 0.8, 4, 0.08, 1, 1.6),
        ])
    func regions(name: String, input: Double, output: Double, read: Double, write: Double, hour: Double) throws {
        let rates = try #require(ModelPrices.packaged.price(for: name)).standard.rates
        #expect(
            rates
                == ModelPrice.Rates(
                    input: input, output: output, cacheRead: read, cacheWrite5m: write, cacheWrite1h: hour))
    }

    @Test("the user's own price counts as it is, under every name of the model")
    func own() throws {
        let own = try ModelPricesDocument(
            Data(
                """
                {"models": {"claude-opus-5": {"input": 1, "output": 2, "provider": "anthropic"},
                  "kimi-for-coding": {"input": 3, "output": 4}, "gpt-5.5-high": {"input": 7, "output": 8}}}
                """.utf8)
        ).models
        let prices = ModelPrices.packaged.replacing(own)
        for name in ["claude-opus-5", "us.anthropic.claude-opus-5", "claude-opus-5-high"] {
            #expect(prices.price(for: name)?.standard.rates.input == 1, "\(name)")
        }
        #expect(prices.price(for: "Kimi-For-Coding")?.standard.rates.input == 3)
        #expect(prices.price(for: "gpt-5.5-high")?.standard.rates.input == 7)
        #expect(prices.price(for: "gpt-5.5")?.standard.rates.input == 5)
    }
}
