/// The names under which tools and gateways call the model of a price list. There is no rule of
/// similarity: what these do not make equal is another model.
struct ModelAlias: Equatable {
    /// A name that a table may have.
    var name: String
    /// Whose price it can be; nil for anyone's.
    var providers: Set<String>?

    static let byteLimit = 256

    /// To be changed with the rules, so that costs that were kept are calculated again.
    static let rulesVersion = 1

    /// Names of a model, its own first; empty for one that is too long.
    static func aliases(of model: String) -> [ModelAlias] {
        guard model.utf8.count <= byteLimit else { return [] }
        var alias = ModelAlias(name: model.lowercased())
        var aliases = [alias]
        let steps: [(inout ModelAlias) -> Void] = [
            { $0.removePrefixes() }, { $0.removeContextMark() }, { $0.removeBedrockVersion() },
            { $0.removeDate() }, { $0.writeDashes() },
        ]
        for step in steps {
            step(&alias)
            if alias != aliases.last { aliases.append(alias) }
        }
        return aliases
    }

    /// Prefixes of providers, gateways and clouds that bill the providers' own prices, and whose. A
    /// gateway's prices for models that many serve are its own, so they are not listed for it.
    private static let prefixes: [(String, Set<String>)] = {
        let closed: Set = ["anthropic", "openai", "google", "xai"]
        let regions = ["", "us.", "eu.", "apac.", "jp.", "au.", "global."]
        return [
            ("openrouter/", closed), ("github_copilot/", closed), ("vertex_ai/", closed),
            ("bedrock/", ["anthropic"]), ("anthropic/", ["anthropic"]),
            ("azure/", ["openai"]), ("openai/", ["openai"]),
            ("gemini/", ["google"]), ("google/", ["google"]), ("models/", ["google"]),
            ("xai/", ["xai"]), ("x-ai/", ["xai"]),
            ("deepseek/", ["deepseek"]), ("moonshot/", ["moonshot"]), ("moonshotai/", ["moonshot"]),
            ("dashscope/", ["alibaba"]), ("qwen/", ["alibaba"]),
            ("zai/", ["zai"]), ("z-ai/", ["zai"]), ("minimax/", ["minimax"]),
            ("mistral/", ["mistral"]), ("mistralai/", ["mistral"]),
        ] + regions.map { ($0 + "anthropic.", ["anthropic"]) }
    }()

    /// "openrouter/anthropic/claude-opus-5": at most three, one after the other.
    private mutating func removePrefixes() {
        for _ in 0..<3 {
            guard let (prefix, owners) = Self.prefixes.first(where: { name.hasPrefix($0.0) }) else {
                return
            }
            name.removeFirst(prefix.count)
            providers = providers.map { $0.intersection(owners) } ?? owners
        }
    }

    /// Claude Code's mark of a long context, "claude-opus-5[1m]".
    private mutating func removeContextMark() {
        if name.hasSuffix("[1m]") { name.removeLast(4) }
    }

    /// "claude-opus-4-1-20250805-v1:0", "claude-opus-4-6-v1".
    private mutating func removeBedrockVersion() {
        guard name.hasPrefix("claude-"), let match = name.firstMatch(of: /-v[0-9](:[0-9])?$/)
        else { return }
        name.removeSubrange(match.range)
    }

    /// "claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929", "claude-opus-5@default",
    /// "gpt-5-2025-08-07": a snapshot costs what the model costs, unless the table has a price of
    /// its own.
    private mutating func removeDate() {
        let date =
            /(@default|[-@]20[0-9]{2}(0[1-9]|1[0-2])[0-3][0-9]|-20[0-9]{2}-(0[1-9]|1[0-2])-[0-3][0-9])$/
        guard let match = name.firstMatch(of: date) else { return }
        name.removeSubrange(match.range)
    }

    /// Copilot's and OpenRouter's "claude-opus-4.8" is Anthropic's "claude-opus-4-8".
    private mutating func writeDashes() {
        if name.hasPrefix("claude-") { name.replace(".", with: "-") }
    }
}
