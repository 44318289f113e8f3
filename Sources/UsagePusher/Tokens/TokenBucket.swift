/// The requests of one session with one model within a quarter of an hour: what reports add up.
///
/// A quarter of an hour is the least by which time zones differ, so that days are those of any zone.
package struct TokenBucket: Sendable, Hashable, BitwiseCopyable {
    package struct Key: Sendable, Hashable, BitwiseCopyable {
        /// Quarters of an hour since 1970.
        package var quarter: UInt32
        /// Index in `TokenUsage.sessions`.
        package var session: UInt32
        /// Index in `TokenUsage.models`; `UInt16.max` without one.
        package var model: UInt16
        package var tier: ServiceTier
        package var surcharge = Surcharge()
        /// Whether the time is only that of the session's last change.
        package var isCoarse: Bool
        /// Whether another counter has stated it, of a day without logs.
        package var isImported = false
        /// Whether the cost could not be calculated again, where that was asked for.
        package var keepsCost = false

        /// In two words, for a million entries.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(UInt64(quarter) << 32 | UInt64(session))
            hasher.combine(
                UInt32(model) << 10 | UInt32(surcharge.rawValue) << 6 | UInt32(tier.rawValue) << 3
                    | (keepsCost ? 4 : 0) | (isImported ? 2 : 0) | (isCoarse ? 1 : 0))
        }
    }

    package var key: Key
    /// Milliseconds since 1970 of the first and the last request.
    package var first: Int64
    package var last: Int64
    package var requestCount = 0
    package var counts = TokenCounts()
    package var cost = CostSums()
    /// The sum of those of the requests, see `TokenEntry.fingerprint`.
    var fingerprint: UInt64 = 0

    static let quarter: Int64 = 900_000
}

/// Costs of requests, by whose statement counts; see `CostMode`.
///
/// In units of 10⁻¹² US dollars: whole numbers, so that a sum does not depend on its order.
package struct CostSums: Sendable, Hashable, BitwiseCopyable {
    private var automatic: Int64 = 0
    private var calculated: Int64 = 0
    private var displayed: Int64 = 0
    /// Requests for which not everything has a price.
    package private(set) var unpricedCount = 0
    /// Those of them for which the tool states no cost either.
    package private(set) var unknownCount = 0
    /// The tokens of both that have no price.
    package private(set) var unpricedTokens = 0
    package private(set) var unknownTokens = 0

    package init() {}

    /// In units, and in requests and tokens.
    var words: [Int] {
        [
            Int(automatic), Int(calculated), Int(displayed), unpricedCount, unknownCount, unpricedTokens, unknownTokens,
        ]
    }

    /// As `words`, in 10⁻⁹ US dollars, of which a million roundings are less than a cent; what was calculated as the
    /// difference, which is mostly 0, with its sign in the lowest bit.
    var ledgerWords: [Int] {
        func nanodollars(_ units: Int64) -> Int { Int((units &+ 500) / 1_000) }
        var words = words
        words[0] = nanodollars(automatic)
        let difference = nanodollars(calculated) - words[0]
        words[1] = difference << 1 ^ difference >> (Int.bitWidth - 1)
        words[2] = nanodollars(displayed)
        return words
    }

    /// - Parameter words: as `ledgerWords`.
    init(ledgerWords words: [Int]) {
        automatic = Int64(words[0]) &* 1_000
        calculated = Int64(words[0] &+ (Int(UInt(bitPattern: words[1]) >> 1) ^ -(words[1] & 1))) &* 1_000
        displayed = Int64(words[2]) &* 1_000
        (unpricedCount, unknownCount) = (words[3], words[4])
        (unpricedTokens, unknownTokens) = (words[5], words[6])
    }

    static let wordCount = 7

    /// The costs of one request.
    ///
    /// - Parameters:
    ///   - own: the tool's own, in US dollars; not a number when it states none.
    ///   - calculated: of these tokens.
    init(own: Double, calculated: TokenCost, tokens: TokenCounts) {
        let own = own >= 0 ? Self.units(own) : nil
        self.calculated = Self.units(calculated.priced)
        displayed = own ?? 0
        automatic = own ?? self.calculated
        guard calculated.total == nil else { return }
        unpricedCount = 1
        unpricedTokens = calculated.gaps.count(of: tokens)
        guard own == nil else { return }
        unknownCount = 1
        unknownTokens = unpricedTokens
    }

    /// Calculates again; what tools state stays.
    ///
    /// - Parameter cost: of all tokens.
    mutating func recalculate(_ cost: Double) {
        let before = calculated
        calculated = Self.sum(cost)
        if displayed == 0 {
            automatic = calculated
        } else if before > 0, automatic > displayed {
            // For some of the requests the tool states no cost.
            let share = min(Double(automatic - displayed) / Double(before), 1)
            automatic = displayed + Int64((share * Double(calculated)).rounded())
        }
        (unpricedCount, unknownCount, unpricedTokens, unknownTokens) = (0, 0, 0, 0)
    }

    package static func += (sum: inout CostSums, cost: CostSums) {
        sum.automatic &+= cost.automatic
        sum.calculated &+= cost.calculated
        sum.displayed &+= cost.displayed
        sum.unpricedCount &+= cost.unpricedCount
        sum.unknownCount &+= cost.unknownCount
        sum.unpricedTokens &+= cost.unpricedTokens
        sum.unknownTokens &+= cost.unknownTokens
    }

    /// In US dollars, without what has no price.
    package func dollars(_ mode: CostMode) -> Double {
        let units =
            switch mode {
            case .auto: automatic
            case .calculate: calculated
            case .display: displayed
            }
        return Double(units) / Self.unitsPerDollar
    }

    private static let unitsPerDollar = 1e12

    /// At most a million dollars for one request.
    private static func units(_ dollars: Double) -> Int64 { sum(min(dollars, 1e6)) }

    /// At most four million dollars, so that two fit.
    private static func sum(_ dollars: Double) -> Int64 {
        Int64((min(dollars, 4e6) * unitsPerDollar).rounded())
    }
}

extension TokenCost.Gaps {
    /// How many of a request's tokens have no price.
    fileprivate func count(of tokens: TokenCounts) -> Int {
        guard isDisjoint(with: [.model, .tier]) else { return tokens.total }
        return contains(.cacheWrite) ? tokens.cacheWrite1h : 0
    }
}

extension TokenBucket {
    /// What one entry is.
    ///
    /// - Parameter price: of its model; nil when it has none.
    init(_ entry: TokenEntry, price: PriceMatch?) {
        let counts = entry.counts
        // A message of a tool's own, without a model, costs nothing.
        let gaps: TokenCost.Gaps = counts.total == 0 && counts.webSearches == 0 ? [] : .model
        let time = entry.isCoarse ? nil : entry.time
        let cost =
            price?.cost(of: counts, tier: entry.tier, isRegional: entry.isRegional, at: time)
            ?? TokenCost(gaps: gaps)
        self.init(
            key: Key(
                quarter: UInt32(clamping: entry.time / Self.quarter), session: entry.session,
                model: entry.model, tier: entry.tier,
                surcharge: price?.price.surcharge(of: counts, isRegional: entry.isRegional, at: time)
                    ?? Surcharge(ofUnpriced: counts, isRegional: entry.isRegional),
                isCoarse: entry.isCoarse),
            first: entry.time, last: entry.time, requestCount: counts.isSearchAlone ? 0 : 1,
            counts: counts,
            cost: CostSums(own: entry.ownCost, calculated: cost, tokens: counts), fingerprint: entry.fingerprint)
    }

    fileprivate static func += (sum: inout TokenBucket, bucket: TokenBucket) {
        sum.first = min(sum.first, bucket.first)
        sum.last = max(sum.last, bucket.last)
        sum.requestCount += bucket.requestCount
        sum.counts += bucket.counts
        sum.cost += bucket.cost
        sum.fingerprint &+= bucket.fingerprint
    }
}

/// What entries add up to.
struct TokenBuckets {
    /// In no order.
    private(set) var buckets: [TokenBucket] = []
    private var indices: [TokenBucket.Key: UInt32] = [:]

    mutating func add(_ bucket: TokenBucket) {
        if let index = indices[bucket.key] {
            buckets[Int(index)] += bucket
        } else {
            indices[bucket.key] = UInt32(buckets.count)
            buckets.append(bucket)
        }
    }

    /// Takes the buckets out: by time, then in an order that is the same in every run.
    mutating func takeSorted(by lineage: TokenLineage) -> [TokenBucket] {
        var sorted: [TokenBucket] = []
        swap(&sorted, &buckets)
        indices = [:]
        sorted.sort { left, right in
            if left.key.quarter != right.key.quarter { return left.key.quarter < right.key.quarter }
            if left.first != right.first { return left.first < right.first }
            let order = (lineage.order(ofSession: left.key.session), lineage.order(ofSession: right.key.session))
            if order.0 != order.1 { return order.0 < order.1 }
            return (left.key.model, left.key.tier.rawValue, left.key.surcharge.rawValue)
                < (right.key.model, right.key.tier.rawValue, right.key.surcharge.rawValue)
        }
        return sorted
    }
}
