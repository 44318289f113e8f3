/// The names under which tools and gateways call the model of a price list. There is no rule of
/// similarity: what these do not make equal is another model.
struct ModelAlias: Equatable {
    /// A name that a table may have.
    var name: String
    /// Whose price it can be; nil for anyone's.
    var providers: Set<String>?
    /// The tier that the name states.
    var tier = ServiceTier.standard
    /// Whether the name states a region, of which some models have prices of their own.
    var isRegional = false

    static let byteLimit = 256

    /// To be changed with the rules, so that costs that were kept are calculated again.
    static let rulesVersion = 3

    /// Names of a model, its own first; empty for one that is too long.
    static func aliases(of model: String) -> [ModelAlias] {
        guard model.utf8.count <= byteLimit else { return [] }
        var alias = ModelAlias(name: model.lowercased())
        var aliases = [alias]
        func append() {
            if alias != aliases.last { aliases.append(alias) }
            guard let name = documented[alias.name], name != alias.name else { return }
            var other = alias
            other.name = name
            aliases.append(other)
        }
        alias.removePrefixes()
        append()
        // Dated after fast after effort, or in any other order, each once.
        var rules = suffixRules
        while let index = rules.firstIndex(where: { $0(&alias) }) {
            rules.remove(at: index)
            append()
        }
        alias.writeAnthropicName()
        append()
        return aliases
    }

    /// Prefixes of providers, gateways and clouds that bill the providers' own prices, and whose. A
    /// gateway's prices for models that many serve are its own, so they are not listed for it.
    private static let prefixes: [(String, Set<String>)] = {
        let closed: Set = ["anthropic", "openai", "google", "xai"]
        return [
            ("openrouter/", closed), ("github_copilot/", closed), ("github-copilot/", closed), ("opencode/", closed),
            ("vertex_ai/", closed), ("bedrock/", ["anthropic"]), ("amazon-bedrock/", ["anthropic"]),
            ("anthropic/", ["anthropic"]), ("azure/", ["openai"]), ("openai/", ["openai"]), ("gemini/", ["google"]),
            ("google/", ["google"]), ("models/", ["google"]), ("xai/", ["xai"]), ("x-ai/", ["xai"]),
            ("deepseek/", ["deepseek"]), ("moonshot/", ["moonshot"]), ("moonshotai/", ["moonshot"]),
            ("kimi-code/", ["moonshot"]), ("dashscope/", ["alibaba"]), ("qwen/", ["alibaba"]), ("zai/", ["zai"]),
            ("z-ai/", ["zai"]), ("minimax/", ["minimax"]), ("mistral/", ["mistral"]), ("mistralai/", ["mistral"]),
            ("anthropic.", ["anthropic"]), ("global.anthropic.", ["anthropic"]),
        ] + regions.map { ($0, ["anthropic"]) }
    }()

    /// The prefixes of Bedrock's inference profiles that stay in one part of the world.
    private static let regions = ["us", "eu", "apac", "jp", "au"].map { $0 + ".anthropic." }

    /// "openrouter/anthropic/claude-opus-5": at most three, one after the other.
    private mutating func removePrefixes() {
        for _ in 0..<3 {
            guard let (prefix, owners) = Self.prefixes.first(where: { name.hasPrefix($0.0) }) else { return }
            if Self.regions.contains(prefix) { isRegional = true }
            name.removeFirst(prefix.count)
            providers = providers.map { $0.intersection(owners) } ?? owners
        }
    }

    // A literal is compiled each time that it is evaluated. `Regex` is not `Sendable`, but matching does not change it.
    private nonisolated(unsafe) static let effort =
        #/
        ( [-:@\ ] (none|minimal|low|medium|high|xhigh)
        | :max
        | \ ? \( (none|minimal|low|medium|high|xhigh|max|auto|[0-9]{1,7}) \)
        ) $
        /#
    private nonisolated(unsafe) static let bedrockVersion = /-v[0-9](:[0-9])?$/
    private nonisolated(unsafe) static let date =
        #/
        ( @default
        | [-@] 20[0-9]{2} (0[1-9]|1[0-2]) [0-3][0-9]
        | [-@] 20[0-9]{2}-(0[1-9]|1[0-2])-[0-3][0-9]
        | -2[3-9] (0[1-9]|1[0-2]) [0-3][0-9]
        | - (0[1-9]|1[0-2]) [0-3][0-9]
        | -preview- (0[1-9]|1[0-2]) - ([0-3][0-9] | 20[0-9]{2})
        ) $
        /#
    private nonisolated(unsafe) static let cursorName = /claude-([4-9](?:-[0-9])?)-([a-z]+)/

    /// Each removes what it is about from the end of the name, and returns whether it was there.
    private static let suffixRules: [@Sendable (inout ModelAlias) -> Bool] = [
        { $0.removeFast() }, { $0.removeEffort() }, { $0.removeContextMark() }, { $0.removeThinking() },
        { $0.removeLatest() }, { $0.removeBedrockVersion() }, { $0.removeDate() },
        { $0.removeSuffix(of: ["-customtools"], from: ["gemini-"]) },
    ]

    private mutating func removeSuffix(of suffixes: [String], from families: [String]) -> Bool {
        guard families.contains(where: name.hasPrefix),
            let suffix = suffixes.first(where: name.hasSuffix)
        else { return false }
        name.removeLast(suffix.count)
        return true
    }

    /// Copilot's "claude-opus-4.8-fast", Cline's "claude-opus-4-8:fast": the model in the provider's
    /// faster service. A model of which that is the name is in the table, and found before.
    private mutating func removeFast() -> Bool {
        guard removeSuffix(of: ["-fast", ":fast"], from: [""]) else { return false }
        tier = .fast
        return true
    }

    /// "gpt-5.5-high", "gpt-5.5(xhigh)", "claude-opus-5 (16384)": effort changes how many tokens there
    /// are, not what one costs. "-max" is a part of models' names.
    private mutating func removeEffort() -> Bool {
        guard
            ["gpt-", "codex-", "o1", "o3", "o4", "claude-", "gemini-", "grok-"].contains(where: name.hasPrefix),
            let match = name.firstMatch(of: Self.effort)
        else { return false }
        name.removeSubrange(match.range)
        return true
    }

    /// What marks a long context: Claude Code's "claude-opus-5[1m]", Cline's ":1m", Copilot's "-1m", Zed's
    /// "-1m-context".
    private mutating func removeContextMark() -> Bool {
        removeSuffix(of: ["[1m]", ":1m", "-1m", "-1m-context"], from: ["claude-"])
    }

    /// Zed's "claude-sonnet-4-5-thinking", OpenRouter's ":thinking" and ":beta", Copilot's "-thought".
    /// Other providers have prices of their own for reasoning.
    private mutating func removeThinking() -> Bool {
        removeSuffix(of: ["-thinking", ":thinking", "-thought", ":beta"], from: ["claude-"])
    }

    /// Anthropic's, Zed's and xAI's name of a version's newest snapshot.
    private mutating func removeLatest() -> Bool {
        guard name.contains(where: \.isNumber) else { return false }
        return removeSuffix(of: ["-latest", "@latest"], from: ["claude-", "grok-"])
    }

    /// "claude-opus-4-1-20250805-v1:0", "claude-opus-4-6-v1".
    private mutating func removeBedrockVersion() -> Bool {
        guard name.hasPrefix("claude-"), let match = name.firstMatch(of: Self.bedrockVersion) else { return false }
        name.removeSubrange(match.range)
        return true
    }

    /// "claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929", "claude-opus-5@default",
    /// "gpt-5-2025-08-07", "deepseek-v3-250324", "deepseek-r1-0528", "gemini-3-flash-preview-12-2025":
    /// a snapshot costs what the model costs, unless the table has a price of its own.
    private mutating func removeDate() -> Bool {
        guard let match = name.firstMatch(of: Self.date) else { return false }
        let isPreview = match.output.0.hasPrefix("-preview")
        name.replaceSubrange(match.range, with: isPreview ? "-preview" : "")
        return true
    }

    /// Copilot's and OpenRouter's "claude-opus-4.8" and Cursor's "claude-4.5-sonnet" are Anthropic's
    /// "claude-opus-4-8" and "claude-sonnet-4-5"; "claude-sonnet-4-0" is its alias of "claude-sonnet-4".
    private mutating func writeAnthropicName() {
        guard name.hasPrefix("claude-") else { return }
        name.replace(".", with: "-")
        if let match = name.wholeMatch(of: Self.cursorName) {
            name = "claude-\(match.2)-\(match.1)"
        }
        if name.hasSuffix("-4-0") { name.removeLast(2) }
    }

    /// What the tools' and providers' own lists call models that the table has under another name: OpenCode Zen's and
    /// Zed's names of Google's previews, OpenRouter's and xAI's of Grok, OpenRouter's and Kimi Code's of Moonshot's.
    private static let documented = [
        "gemini-3-pro": "gemini-3-pro-preview", "gemini-3-flash": "gemini-3-flash-preview",
        "gemini-3.1-pro": "gemini-3.1-pro-preview", "grok-4-fast": "grok-4-fast-reasoning",
        "grok-4.1-fast": "grok-4-1-fast", "grok-3-fast": "grok-3-fast-latest", "kimi-k2-0905": "kimi-k2-0905-preview",
        "kimi-k2-0711": "kimi-k2-0711-preview", "k3": "kimi-k3", "k3-256k": "kimi-k3", "k2p5": "kimi-k2.5",
        "k2p6": "kimi-k2.6",
    ]
}
