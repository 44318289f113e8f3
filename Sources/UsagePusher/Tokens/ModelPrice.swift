/// What a model costs, in US dollars per million tokens.
package struct ModelPrice: Sendable, Hashable {
    /// The prices of one request's tokens by kind.
    package struct Rates: Sendable, Hashable {
        package var input: Double
        package var output: Double
        /// Nil: what is read from a cache costs as much as other input.
        package var cacheRead: Double?
        /// Nil: what is written to a cache costs as much as other input.
        package var cacheWrite5m: Double?
        /// Nil: unknown.
        package var cacheWrite1h: Double?
    }

    /// Rates for prompts of any length.
    package struct List: Sendable, Hashable {
        /// The rates of all tokens of a request whose prompt has more than `above` tokens.
        package struct LongContext: Sendable, Hashable {
            package var above: Int
            package var rates: Rates
        }

        package var rates: Rates
        /// With rising thresholds.
        package var longContext: [LongContext] = []

        package func rates(forPrompt tokens: Int) -> Rates {
            longContext.last { tokens > $0.above }?.rates ?? rates
        }
    }

    /// As `ModelPrices` has it.
    package var name: String
    /// Whose price list it is: anthropic, openai, …
    package var provider: String?
    package var standard: List
    /// For the provider's services that have prices of their own, see `ServiceTier.listed`.
    package var services: [ServiceTier: List] = [:]
    /// For certain hours of the week, in the usual service.
    package var offPeak: OffPeak?
    /// For the provider's faster mode: a factor of all prices of tokens.
    package var fast: Double?
    /// For the provider's slower services: factors of all prices of tokens.
    package var flex: Double?
    package var batch: Double?
    /// For requests whose location is chosen: a factor of all prices of tokens.
    package var regional: Double?
    /// US dollars for each web search.
    package var webSearch: Double?
    /// The source's, where it is not the table's: the provider has retired the model since.
    package var version: String?
    /// Whether it is from the user's own file.
    package var isOwn = false
}

extension ModelPrice {
    /// The services that have prices of their own, in an order that is always the same.
    package var listedServices: [(tier: ServiceTier, list: List)] {
        ServiceTier.listed.compactMap { tier in services[tier].map { (tier, $0) } }
    }

    /// Adds what the provider documents as a rule and a list may leave out.
    ///
    /// Anthropic: a read costs 0.1, a write 1.25 and one for an hour 2 times the input; a search
    /// costs $10 per thousand; inference in the US costs 1.1 times as much
    /// [platform.claude.com/docs/en/about-claude/pricing]. Batches of Anthropic, OpenAI and Google and the flex service
    /// of the latter two cost half [platform.openai.com/docs/pricing, ai.google.dev/gemini-api/docs/pricing].
    mutating func applyProviderRules() {
        if provider == "openai" || provider == "google" { (flex, batch) = (0.5, 0.5) }
        guard provider == "anthropic" else { return }
        batch = 0.5
        regional = 1.1
        standard.rates.applyAnthropicRules()
        for index in standard.longContext.indices {
            standard.longContext[index].rates.applyAnthropicRules()
        }
        webSearch = webSearch ?? 0.01
    }
}

extension ModelPrice.Rates {
    fileprivate mutating func applyAnthropicRules() {
        cacheRead = cacheRead ?? 0.1 * input
        cacheWrite5m = cacheWrite5m ?? 1.25 * input
        cacheWrite1h = cacheWrite1h ?? 2 * input
    }
}
