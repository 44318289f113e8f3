/// The tokens of one request as a file states them.
///
/// Texts of the file are passed as they are there, so that nothing is copied for the many records that repeat them.
struct TokenRecord {
    /// Milliseconds since 1970.
    var time: Int64
    var counts: TokenCounts
    /// What tells that two records are of one request, in this file or another: a hash of its id and of what makes that
    /// unique. See `TokenMerge`.
    var id: UInt64
    var identity = Identity.own
    /// Among several records with one `id`, those with different variants are different requests, except that a side
    /// chain repeats the main one.
    var variant: UInt32 = 0
    var role = Role.main
    var standing = Standing.own
    var tier = ServiceTier.standard
    /// Whether the request was made where the provider charges more, as the file states.
    var isRegional = false
    /// What the tool itself says that the request cost, in US dollars.
    var ownCost: Double?
    /// Whether the time is that of a whole session, of which the tool keeps no more.
    var isCoarse = false

    enum Identity {
        /// The id is the tool's own.
        case own
        /// It came from outside, or is made of the counts: then records with it are of one request only with equal
        /// prompt counts and other evidence.
        case foreign
        /// Foreign, and the variant stands for an id of the request, beside that of the answer.
        case foreignWithRequest
    }

    /// What it is beside other records with its id.
    enum Role {
        case main
        case sidechain
        /// States in sum what other records state one by one: without any of those it counts. One with a variant states
        /// what was used since the one before.
        case summary
    }

    /// Whether it counts, as far as its file tells.
    enum Standing {
        case own
        /// A copy unless the thread that `TokenSink.declare` named is there and does not have it.
        case probableCopy
        /// The thread that `TokenSink.declare` named as the origin has it too: it counts only while no file is declared
        /// to be that one's, and of records of one request another one is the original.
        case inOrigin
        /// Another record of the file has it under another id. It counts nothing, and neither do its copies.
        case elsewhere(isProbableCopy: Bool)
        /// Nothing was used: a record with these counts of the prompt, and not more output, was an estimate, here and
        /// in what copies it. Another record of the file states what its answer used.
        case estimate
    }
}

/// A record as it is sorted, merged and kept: 64 bytes, without references.
struct TokenEntry: Hashable, BitwiseCopyable {
    var id: UInt64 = 0
    var time: Int64 = 0
    /// In US dollars; NaN when the tool states none.
    var ownCost = Double.nan
    var variant: UInt32 = 0
    /// The file's index in `TokenCache.files`.
    var file: UInt32 = 0
    /// Indices in the names of sessions and models; `noModel` when the tool names none.
    var session: UInt32 = 0
    var model: UInt16 = 0
    /// Searches in the lower 12 bits.
    private var searchesAndFlags: UInt16 = 0
    private var input: UInt32 = 0
    private var output: UInt32 = 0
    private var cacheRead: UInt32 = 0
    private var cacheWrite5m: UInt32 = 0
    private var cacheWrite1h: UInt32 = 0
    /// Reasoning tokens in the upper 24 bits, flags in the lower 8.
    private var reasoningAndFlags: UInt32 = 0

    static let noModel = UInt16.max
    /// The largest number of tokens of a kind that one request can have.
    static let countLimit = Int(UInt32.max)
    private static let reasoningLimit = 0xFF_FFFF
    private static let searchLimit = 0xFFF
    private static let foreignFlag: UInt16 = 0x8000
    private static let elsewhereFlag: UInt16 = 0x4000
    private static let inOriginFlag: UInt16 = 0x2000
    private static let requestFlag: UInt16 = 0x1000

    init() {}

    /// Nil when a number is negative, or larger than any request's.
    init?(_ record: TokenRecord, file: UInt32, session: UInt32, model: UInt16) {
        let counts = record.counts
        guard counts.isPlausible else { return nil }
        id = record.id
        time = record.time
        ownCost = record.ownCost ?? .nan
        variant = record.variant
        self.file = file
        self.session = session
        self.model = model
        let searches = UInt16(clamping: min(counts.webSearches, Self.searchLimit))
        let (standingFlag, isProbableCopy): (UInt16, Bool) =
            switch record.standing {
            case .own: (0, false)
            case .probableCopy: (0, true)
            case .inOrigin: (Self.inOriginFlag, false)
            case .elsewhere(let isProbableCopy): (Self.elsewhereFlag, isProbableCopy)
            case .estimate: (Self.elsewhereFlag | Self.inOriginFlag, false)
            }
        searchesAndFlags =
            searches | standingFlag | (record.identity == .own ? 0 : Self.foreignFlag)
            | (record.identity == .foreignWithRequest ? Self.requestFlag : 0)
        input = UInt32(clamping: counts.input)
        output = UInt32(clamping: counts.output)
        cacheRead = UInt32(clamping: counts.cacheRead)
        cacheWrite5m = UInt32(clamping: counts.cacheWrite5m)
        cacheWrite1h = UInt32(clamping: counts.cacheWrite1h)
        let reasoning = UInt32(clamping: min(max(counts.reasoning, 0), Self.reasoningLimit))
        reasoningAndFlags =
            reasoning << 8 | (record.role == .sidechain ? 1 : 0) | (record.isCoarse ? 2 : 0)
            | (isProbableCopy ? 4 : 0) | (record.role == .summary ? 8 : 0)
            | UInt32(record.tier.rawValue) << 4 | (record.isRegional ? 128 : 0)
    }

    var counts: TokenCounts {
        TokenCounts(
            input: Int(input), output: Int(output), reasoning: Int(reasoningAndFlags >> 8), cacheRead: Int(cacheRead),
            cacheWrite5m: Int(cacheWrite5m), cacheWrite1h: Int(cacheWrite1h), webSearches: webSearches)
    }

    private var cacheWrite: Int { Int(cacheWrite5m) + Int(cacheWrite1h) }
    var prompt: Int { Int(input) + Int(cacheRead) + cacheWrite }
    var total: Int { prompt + Int(output) }

    var webSearches: Int { Int(searchesAndFlags) & Self.searchLimit }
    var hasForeignID: Bool { searchesAndFlags & Self.foreignFlag != 0 }
    var isCountedElsewhere: Bool { searchesAndFlags & Self.elsewhereFlag != 0 }
    var hasRequestID: Bool { searchesAndFlags & Self.requestFlag != 0 }
    var isInOrigin: Bool { searchesAndFlags & Self.inOriginFlag != 0 }
    var isEstimate: Bool { isCountedElsewhere && isInOrigin }
    var isSidechain: Bool { reasoningAndFlags & 1 != 0 }
    var isCoarse: Bool { reasoningAndFlags & 2 != 0 }
    var isProbableCopy: Bool { reasoningAndFlags & 4 != 0 }
    var isSummary: Bool { reasoningAndFlags & 8 != 0 }
    var isRegional: Bool { reasoningAndFlags & 128 != 0 }
    var tier: ServiceTier { ServiceTier(rawValue: UInt8(reasoningAndFlags >> 4 & 7)) ?? .unknown }
}

/// Which of several records of a request counts; see `TokenMerge`.
extension TokenEntry {
    /// How long an answer is told by its id and its request's: gateways reuse both.
    static let answerMilliseconds: Int64 = 120_000

    /// Whether the counts of this record of a request count and not those of `other`: the main chain before a side
    /// chain, then one with an output, then the larger total (a reply is written several times while it grows), then
    /// the one that states a tier, a cost (copies of a fork may state none), or the larger one, then the earlier one.
    func outranks(_ other: TokenEntry) -> Bool {
        if isSidechain != other.isSidechain { return !isSidechain }
        if (output == 0) != (other.output == 0) { return output != 0 }
        if total != other.total { return total > other.total }
        if (model == Self.noModel) != (other.model == Self.noModel) { return model != Self.noModel }
        if tier != other.tier { return tier.rawValue > other.tier.rawValue }
        if cacheWrite1h != other.cacheWrite1h { return cacheWrite1h > other.cacheWrite1h }
        if ownCost.isNaN != other.ownCost.isNaN { return other.ownCost.isNaN }
        if !ownCost.isNaN, ownCost != other.ownCost { return ownCost > other.ownCost }
        if time != other.time { return time < other.time }
        return (output, input, cacheRead, cacheWrite5m, reasoningAndFlags, searchesAndFlags) > (
            other.output, other.input, other.cacheRead, other.cacheWrite5m, other.reasoningAndFlags,
            other.searchesAndFlags
        )
    }

    /// Whether the prompts are equal as far as counts tell. How long what was written to the cache is kept may be
    /// stated later.
    func hasPrompt(of other: TokenEntry) -> Bool {
        input == other.input && cacheRead == other.cacheRead && cacheWrite == other.cacheWrite
    }

    /// The variant and the counts of the prompt: equal for those that `classOrder(in:)` does not order.
    var requestCounts: [Int] { [Int(variant), Int(input), Int(cacheRead), cacheWrite] }

    /// Whether both ids, of an answer and of its request, are used again so soon that it must be the same one. For
    /// records of which the id came from outside.
    func isOfAnswer(of other: TokenEntry) -> Bool {
        hasRequestID && other.hasRequestID && abs(time - other.time) <= Self.answerMilliseconds
    }

    /// Whether no count is larger than that of `other`.
    func isWithin(_ other: TokenEntry) -> Bool {
        input <= other.input && cacheRead <= other.cacheRead && cacheWrite <= other.cacheWrite && output <= other.output
    }

    /// The order of records with one id that are of different requests wherever they are; nil for others.
    func classOrder(in other: TokenEntry, ignoringVariants: Bool = false) -> Bool? {
        if !ignoringVariants, variant != other.variant { return variant < other.variant }
        guard hasForeignID || other.hasForeignID else { return nil }
        if input != other.input { return input < other.input }
        if cacheRead != other.cacheRead { return cacheRead < other.cacheRead }
        return cacheWrite != other.cacheWrite ? cacheWrite < other.cacheWrite : nil
    }

    /// The order of records with one id of which `isGrowth(of:)` does not hold; nil for others.
    func order(in other: TokenEntry) -> Bool? {
        if isSidechain != other.isSidechain { return other.isSidechain }
        if isSummary != other.isSummary { return other.isSummary }
        if isProbableCopy != other.isProbableCopy { return other.isProbableCopy }
        if isCountedElsewhere != other.isCountedElsewhere { return other.isCountedElsewhere }
        if file != other.file { return file < other.file }
        if session != other.session { return session < other.session }
        return classOrder(in: other)
    }

    /// Whether both state one request, at one place.
    func isGrowth(of other: TokenEntry) -> Bool { id == other.id && order(in: other) == nil }

    var isOfInterval: Bool { isSummary && variant != 0 }

    /// What is left of a sum when these records are taken out of it; nil for nothing.
    func subtracting(_ records: [TokenEntry]) -> TokenEntry? {
        var rest = self
        func subtract(_ count: WritableKeyPath<TokenEntry, UInt32>) {
            let sum = records.reduce(0) { $0 + Int($1[keyPath: count]) }
            rest[keyPath: count] = UInt32(max(0, Int(self[keyPath: count]) - sum))
        }
        for count in [\TokenEntry.input, \.output, \.cacheRead, \.cacheWrite5m, \.cacheWrite1h] {
            subtract(count)
        }
        let reasoning = records.reduce(0) { $0 + Int($1.reasoningAndFlags >> 8) }
        let rest24 = UInt32(max(0, Int(reasoningAndFlags >> 8) - reasoning))
        rest.reasoningAndFlags = min(rest24, rest.output) << 8 | reasoningAndFlags & 0xFF
        if !ownCost.isNaN {
            rest.ownCost = max(0, records.reduce(ownCost) { $0 - ($1.ownCost.isNaN ? 0 : $1.ownCost) })
        }
        return rest.total > 0 ? rest : nil
    }

    /// Takes over what a record of the same request says besides its counts.
    mutating func absorb(_ other: TokenEntry) {
        if model == Self.noModel { model = other.model }
        if ownCost.isNaN { ownCost = other.ownCost }
    }
}

extension TokenCounts {
    /// Whether nothing is negative or more than a request can have.
    fileprivate var isPlausible: Bool {
        // A negative number has the highest bit, a large one some of the upper ones.
        let bits = input | output | reasoning | cacheRead | cacheWrite5m | cacheWrite1h | webSearches
        return bits >= 0 && bits <= TokenEntry.countLimit
    }
}
