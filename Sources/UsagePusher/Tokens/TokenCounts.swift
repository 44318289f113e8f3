/// Tokens of one request, or of a sum of them.
package struct TokenCounts: Sendable, Hashable, BitwiseCopyable {
    /// Input that was read from no cache and written to none.
    package var input = 0
    /// Everything billed as output, reasoning included.
    package var output = 0
    /// The part of `output` that is reasoning, where the tool says so.
    package var reasoning = 0
    package var cacheRead = 0
    /// Input written to a cache that lasts five minutes, or for an unstated time.
    package var cacheWrite5m = 0
    package var cacheWrite1h = 0
    /// Web searches that the provider made.
    package var webSearches = 0

    package init() {}

    /// For a file.
    var words: [Int] { [input, output, reasoning, cacheRead, cacheWrite5m, cacheWrite1h, webSearches] }

    /// - Parameter words: as `words`.
    init(words: [Int]) {
        self.init(
            input: words[0], output: words[1], reasoning: words[2], cacheRead: words[3], cacheWrite5m: words[4],
            cacheWrite1h: words[5], webSearches: words[6])
    }

    static let wordCount = 7

    package init(
        input: Int = 0, output: Int = 0, reasoning: Int = 0, cacheRead: Int = 0,
        cacheWrite5m: Int = 0, cacheWrite1h: Int = 0, webSearches: Int = 0
    ) {
        self.input = input
        self.output = output
        self.reasoning = reasoning
        self.cacheRead = cacheRead
        self.cacheWrite5m = cacheWrite5m
        self.cacheWrite1h = cacheWrite1h
        self.webSearches = webSearches
    }

    package var cacheWrite: Int { cacheWrite5m &+ cacheWrite1h }

    /// What the model read: input, cached or not.
    package var prompt: Int { input &+ cacheRead &+ cacheWrite }

    /// Tokens of all kinds.
    package var total: Int { prompt &+ output }

    /// Whether it is of searches that a tool states apart from the request that made them.
    var isSearchAlone: Bool { total == 0 && webSearches > 0 }

    package static func += (sum: inout TokenCounts, counts: TokenCounts) {
        sum.input &+= counts.input
        sum.output &+= counts.output
        sum.reasoning &+= counts.reasoning
        sum.cacheRead &+= counts.cacheRead
        sum.cacheWrite5m &+= counts.cacheWrite5m
        sum.cacheWrite1h &+= counts.cacheWrite1h
        sum.webSearches &+= counts.webSearches
    }
}

/// Service tier of a request.
package enum ServiceTier: UInt8, Codable, Sendable, Hashable, BitwiseCopyable {
    case standard
    /// A provider's faster mode, priced as a multiple.
    case fast
    case priority
    /// Slower, for less.
    case flex
    case batch
    /// Faster than priority, at prices of its own.
    case ultrafast
    /// Stated, but none of these: a tier, a speed or a place of which nobody here knows what it costs.
    case unknown

    /// Those for which a price list can have prices of their own, by their names there.
    static let listed: [ServiceTier] = [.priority, .ultrafast]

    /// By the names that providers give them, in upper or lower case; nil where nothing is stated.
    init?(stated name: JSONCursor.Text?) {
        guard let name, !name.bytes.isEmpty else { return nil }
        switch name.string?.lowercased() {
        case "standard", "default", "auto", "standard_only": self = .standard
        case "fast": self = .fast
        case "priority": self = .priority
        case "flex": self = .flex
        case "batch": self = .batch
        case "ultrafast": self = .ultrafast
        default: self = .unknown
        }
    }
}
