import Foundation
import Testing

@testable import UsagePusher

@Suite("Names of models")
struct ModelNamesTests {
    /// A name, and the model and tier whose price it has; nil if the price list cannot tell what it costs.
    struct Name: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let name: String
        let price: (model: String, tier: ServiceTier)?

        /// Names in a text, "NAME" or "NAME = MODEL" or "NAME = MODEL fast", behind those whose they are:
        /// "claude: NAME, NAME" and "claude unpriced, REASON: NAME". A line that is indented goes on.
        static func table(_ text: String) -> [Name] {
            text.replacing("\n   ", with: " ").split(separator: "\n").flatMap { line in
                let parts = line.split(separator: ": ", maxSplits: 1)
                return parts[1].split(separator: ", ").map { entry in
                    let names = entry.split(separator: " = ").map(String.init)
                    let model = names.last ?? ""
                    let price = (
                        String(model.prefix { $0 != " " }), model.hasSuffix(" fast") ? ServiceTier.fast : .standard
                    )
                    return Name(
                        testDescription: "\(parts[0]): \(entry)", name: names[0],
                        price: parts[0].contains(" unpriced, ") ? nil : price)
                }
            }
        }
    }

    /// From the tools' sources, settings and documents; see docs/tools.md.
    private static let names = Name.table(
        """
        claude: claude-opus-5-5, claude-sonnet-5, claude-sonnet-4-5-20250929 = claude-sonnet-4-5,
           claude-haiku-4-5-20251001 = claude-haiku-4-5, claude-opus-4-1-20250805 = claude-opus-4-1,
           claude-sonnet-4-20250514 = claude-sonnet-4, claude-3-5-haiku-20241022 = claude-3-5-haiku,
           claude-opus-5[1m] = claude-opus-5, us.anthropic.claude-opus-4-8 = claude-opus-4-8
        claude unpriced, a message of the tool itself, without tokens: <synthetic>
        codex: gpt-5, gpt-5-codex, gpt-5.1-codex-max, gpt-5.1-codex-mini, gpt-5.2-codex, gpt-5.3-codex, gpt-5.4,
           gpt-5.5, gpt-5.6-sol, gpt-6-sol, codex-mini-latest
        codex unpriced, in subscriptions only: gpt-5.3-codex-spark
        codex unpriced, the name stays while the tool puts another model behind it: codex-auto-review
        gemini: gemini-2.5-pro, gemini-2.5-flash-lite, gemini-3-pro-preview, gemini-3-flash-preview,
           gemini-3.1-pro-preview-customtools = gemini-3.1-pro-preview, gemini-3.8-flash
        qwen: qwen3-coder-plus, qwen3-coder-flash, qwen3.7-max
        qwen unpriced, the name stays while the tool puts another model behind it: coder-model, vision-model
        kimi: k3 = kimi-k3, kimi-code/k3 = kimi-k3, kimi-k2-turbo-preview, kimi-k2-thinking-turbo, kimi-k2.5
        kimi unpriced, the name stays while the tool puts another model behind it: kimi-for-coding,
           kimi-for-coding-highspeed, kimi-code/kimi-for-coding
        grok: grok-code-fast-1, grok-build-0.1, grok-4.7
        grok unpriced, the name stays while the tool puts another model behind it: grok-build
        grok unpriced, a model of the tool's own, on no price list: grok-composer-2.5-fast
        grok unpriced, in subscriptions only: grok-4.7-build-fast
        copilot: claude-sonnet-4.5 = claude-sonnet-4-5, claude-sonnet-4, claude-opus-4.6-1m = claude-opus-4-6,
           claude-opus-4.8-fast = claude-opus-4-8 fast, claude-3.7-sonnet-thought = claude-3-7-sonnet, gpt-5-mini,
           gpt-5.3-codex, gemini-3-pro-preview, grok-code-fast-1
        copilot unpriced, a gateway's choice of a model, whose name it does not write: auto
        copilot unpriced, a model of the tool's own, on no price list: raptor-mini, mai-code-1-flash
        opencode: claude-sonnet-5, anthropic/claude-opus-4.5 = claude-opus-4-5,
           opencode/claude-opus-4-5 = claude-opus-4-5, gemini-3-pro = gemini-3-pro-preview, glm-4.6, k2p6 = kimi-k2.6,
           gpt-5.5-fast = gpt-5.5 fast, eu.anthropic.claude-sonnet-4-5-20250929-v1:0 = claude-sonnet-4-5
        opencode unpriced, free for now; a price of 0 would stay when it no longer is: big-pickle, grok-code,
           minimax-m2.5-free
        opencode unpriced, on the user's machine: gpt-oss:20b
        cursor: claude-4.5-sonnet = claude-sonnet-4-5, claude-4.5-sonnet-thinking = claude-sonnet-4-5,
           claude-4.5-opus-high-thinking = claude-opus-4-5, gpt-5.1-codex-high-fast = gpt-5.1-codex fast
        cursor unpriced, a gateway's choice of a model, whose name it does not write: default
        cursor unpriced, a model of the tool's own, on no price list: composer-1
        amp: claude-opus-4-5-20251101 = claude-opus-4-5, claude-haiku-4-5-20251001 = claude-haiku-4-5, gpt-5.1
        amp unpriced, another cloud's price: accounts/fireworks/models/qwen3-coder-480b
        factory: claude-opus-4-5-20251101 = claude-opus-4-5, claude-sonnet-4-5-20250929 = claude-sonnet-4-5,
           gpt-5.1-codex, glm-4.6
        factory unpriced, a model of the user's own: my-local-model
        goose: claude-sonnet-4-0 = claude-sonnet-4, claude-3-5-sonnet-latest = claude-3-5-sonnet, gpt-4o,
           gemini-3-flash-preview
        goose unpriced, another cloud's price: databricks-claude-sonnet-4
        goose unpriced, on the user's machine: qwen2.5
        cline: anthropic/claude-sonnet-4.5 = claude-sonnet-4-5, anthropic/claude-sonnet-4:1m = claude-sonnet-4,
           claude-sonnet-4-20250514:1m = claude-sonnet-4, claude-opus-4-8:fast = claude-opus-4-8 fast,
           x-ai/grok-code-fast-1 = grok-code-fast-1, x-ai/grok-4-fast = grok-4-fast-reasoning,
           deepseek/deepseek-r1-0528 = deepseek-r1, moonshotai/kimi-k2-0905 = kimi-k2-0905-preview
        cline unpriced, free for now; a price of 0 would stay when it no longer is: minimax/minimax-m2.5:free,
           cline/code-supernova-1-million
        roocode: claude-sonnet-4-5, anthropic/claude-3.7-sonnet:thinking = claude-3-7-sonnet,
           anthropic/claude-3.5-sonnet:beta = claude-3-5-sonnet, xai/grok-code-fast-1 = grok-code-fast-1
        roocode unpriced, free for now; a price of 0 would stay when it no longer is: roo/code-supernova
        kilo: anthropic/claude-sonnet-4.6 = claude-sonnet-4-6, openai/gpt-5.5 = gpt-5.5
        kilo unpriced, a gateway's choice of a model, whose name it does not write: kilo-auto/frontier, kilo/auto
        zed: claude-sonnet-4-5-thinking-latest = claude-sonnet-4-5,
           claude-sonnet-4-5-1m-context-latest = claude-sonnet-4-5, claude-opus-4-1-latest = claude-opus-4-1, gpt-5.2,
           gemini-3.1-pro = gemini-3.1-pro-preview
        """)

    private static let rules = Name.table(
        """
        a prefix, suffix or date:
           Claude-Opus-5 = claude-opus-5, claude-sonnet-4-5@20250929 = claude-sonnet-4-5,
           claude-opus-5@default = claude-opus-5, claude-sonnet-4-5-20250929[1m] = claude-sonnet-4-5,
           openrouter/anthropic/claude-opus-4.8 = claude-opus-4-8, anthropic.claude-opus-4-6-v1 = claude-opus-4-6,
           bedrock/global.anthropic.claude-sonnet-4-20250514-v1:0 = claude-sonnet-4,
           vertex_ai/claude-haiku-4-5@20251001 = claude-haiku-4-5, azure/gpt-5.5 = gpt-5.5, gpt-5-2025-08-07 = gpt-5,
           gpt-5-0807 = gpt-5, gpt-5@2025-08-07 = gpt-5, gpt-4o-2024-05-13 = gpt-4o-2024-05-13,
           gpt-4o-2024-08-06 = gpt-4o, gpt-4-0613 = gpt-4-0613, deepseek-v3-250324 = deepseek-v3,
           gemini-3-flash-preview-12-2025 = gemini-3-flash-preview,
           gemini-2.5-pro-preview-05-06 = gemini-2.5-pro-preview-05-06, models/gemini-2.5-pro = gemini-2.5-pro,
           google/gemini-3.8-flash = gemini-3.8-flash, moonshotai/kimi-k3 = kimi-k3, z-ai/glm-5.3 = glm-5.3,
           MiniMax-M3 = minimax-m3, mistral/devstral-latest = devstral-latest, gpt-5.5-high = gpt-5.5,
           gpt-5.5-xhigh = gpt-5.5, gpt-5.5 (high) = gpt-5.5, gpt-5.5(max) = gpt-5.5,
           gpt-5.1-codex-max-xhigh = gpt-5.1-codex-max, gpt-5.1-codex-max = gpt-5.1-codex-max, o3-high = o3,
           claude-opus-5(16384) = claude-opus-5, gemini-3-pro-low = gemini-3-pro-preview,
           gpt-5.5-high-fast = gpt-5.5 fast, gpt-5.5-fast-high = gpt-5.5 fast,
           openai/gpt-5.5-2026-04-23-fast = gpt-5.5 fast, grok-code-fast = grok-code-fast,
           grok-4-fast = grok-4-fast-reasoning, grok-4.1-fast = grok-4-1-fast,
           mistral-vibe-cli-fast = mistral-vibe-cli-fast, glm-5.3-fast = glm-5.3 fast, grok-4.6-latest = grok-4.6
        """)

    @Test(
        "a model is found by its prefix, suffix and date, and a tool's own name has a price or a reason for none",
        arguments: names + rules)
    func priced(_ name: Name) {
        let match = ModelPrices.packaged.match(name.name)
        #expect(match?.price.name == name.price?.model && match?.tier == name.price?.tier)
    }

    @Test("names of every tool are known")
    func tools() {
        let logs = UsageSources.all.compactMap { $0 as? any TokenRecording }.flatMap(\.tokenLogs)
        let tools = Self.names.map { $0.testDescription.prefix { $0.isLetter } }
        #expect(Set(logs.map { $0.source[...] }).subtracting(tools) == [])
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
