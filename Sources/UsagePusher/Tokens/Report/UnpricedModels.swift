/// The models of which not every request has a price, by the tools that used them.
package struct UnpricedModels: Sendable {
    package struct Model: Sendable {
        /// As the tool names it; nil where it names none, so that it cannot be priced.
        package var name: String?
        /// Sorted.
        package var providers: [String]
        /// Requests that lack a price, or a part of it.
        package var requestCount: Int
        /// Their tokens without a price.
        package var tokens: Int
        /// What has no price.
        package var gaps: TokenCost.Gaps
        /// The member of a price list that the user can write: what is known with null for what is missing. Nil without
        /// a name, and for one that a price list cannot have.
        package var line: String?
    }

    /// Those with the most tokens first.
    package private(set) var models: [Model] = []
    /// The sum of all models.
    package private(set) var total = UsageAmount()

    /// - Parameter mode: whether a tool's own cost stands for a price.
    package init(_ usage: TokenUsage, prices: ModelPrices, mode: CostMode = .auto) {
        var sums: [UInt16: Sum] = [:]
        for bucket in usage.buckets {
            total.add(bucket)
            guard bucket.cost.unknownCount(mode) > 0 else { continue }
            sums[bucket.key.model, default: Sum()].add(bucket, source: usage.session(of: bucket).source)
        }
        models = sums.map { index, sum in
            let name = usage.models.indices.contains(Int(index)) ? usage.models[Int(index)] : nil
            return sum.model(name, name.flatMap(prices.match), mode)
        }
        models.sort { ($1.tokens, $0.name ?? "") < ($0.tokens, $1.name ?? "") }
    }

    private struct Sum {
        var providers: Set<String> = []
        var byTier: [ServiceTier: UsageAmount] = [:]

        mutating func add(_ bucket: TokenBucket, source: String) {
            providers.insert(source)
            byTier[bucket.key.tier, default: UsageAmount()].add(bucket)
        }

        func model(_ name: String?, _ match: PriceMatch?, _ mode: CostMode) -> Model {
            var all = UsageAmount()
            var gaps: TokenCost.Gaps = match == nil ? .model : []
            for (tier, amount) in byTier {
                all += amount
                guard let match else { continue }
                let missing = match.cost(of: amount.counts, tier: tier).gaps
                // A service that is not for long prompts has prices for a sum that is larger.
                gaps.formUnion(missing.isEmpty ? .tier : missing)
            }
            var model = Model(
                name: name, providers: providers.sorted(), requestCount: all.cost.unknownCount(mode),
                tokens: all.cost.unknownTokens(mode), gaps: gaps)
            guard let name, (1...ModelAlias.byteLimit).contains(name.utf8.count) else { return model }
            // A price of exactly this name is the standard price of it, whatever the name states.
            let known = match?.tier == .standard ? match?.price : nil
            var member = PriceMember()
            member.write(known, missing: gaps, of: all.counts, in: Set(byTier.keys))
            model.line = member.isOpen ? member.text(name) : nil
            return model
        }
    }
}

/// A member of `models` of a price list, as `ModelPricesDocument` reads it.
private struct PriceMember {
    private var members: [String] = []
    /// Kinds of tokens for which every list of the price needs a rate.
    private var neededKinds: Set<String> = []
    /// Whether there is a null to be replaced.
    private(set) var isOpen = false

    func text(_ name: String) -> String {
        Self.quoted(name) + ": {" + members.joined(separator: ", ") + "}"
    }

    /// What is known of a price, and null for each kind that is missing and of which there are tokens.
    mutating func write(
        _ price: ModelPrice?, missing gaps: TokenCost.Gaps, of counts: TokenCounts, in tiers: Set<ServiceTier>
    ) {
        let hour = counts.cacheWrite1h > 0 ? ["cacheWrite1h"] : []
        let all = Set(
            ["input", "output"] + (counts.cacheRead > 0 ? ["cacheRead"] : [])
                + (counts.cacheWrite5m > 0 ? ["cacheWrite5m"] : []) + hour)
        neededKinds =
            price == nil
            ? all : Set(["input", "output"] + (gaps.contains(.cacheWrite) ? hour : []))
        let lacksSearches = price == nil || gaps.contains(.webSearch)
        let lacksTier = price != nil && gaps.contains(.tier)
        let lacksFast = lacksTier && tiers.contains(.fast) && price?.services[.priority] == nil
        members = list(price?.standard)
        members += member("webSearch", price?.webSearch, isNeeded: lacksSearches && counts.webSearches > 0)
        members += member("fast", price?.fast, isNeeded: lacksFast)
        let needed = neededKinds
        for tier in ServiceTier.listed {
            let known = price?.services[tier]
            guard known != nil || lacksTier && tiers.contains(tier) else { continue }
            neededKinds = known == nil ? all : needed
            members.append("\"\(tier)\": {\(list(known).joined(separator: ", "))}")
        }
        if let offPeak = price?.offPeak {
            neededKinds = needed
            let hours = "\"hours\": " + Self.quoted(offPeak.hours)
            members.append("\"offPeak\": {\((rates(offPeak.rates) + [hours]).joined(separator: ", "))}")
        }
        if let provider = price?.provider {
            members.append("\"provider\": " + Self.quoted(provider))
        }
    }

    private mutating func list(_ list: ModelPrice.List?) -> [String] {
        var members = rates(list?.rates)
        let long = (list?.longContext ?? []).map { long in
            let members = ["\"above\": \(long.above)"] + rates(long.rates)
            return "{\(members.joined(separator: ", "))}"
        }
        if !long.isEmpty {
            members.append("\"longContext\": [\(long.joined(separator: ", "))]")
        }
        return members
    }

    private mutating func rates(_ rates: ModelPrice.Rates?) -> [String] {
        let kinds: [(name: String, rate: Double?)] = [
            ("input", rates?.input), ("output", rates?.output), ("cacheRead", rates?.cacheRead),
            ("cacheWrite5m", rates?.cacheWrite5m), ("cacheWrite1h", rates?.cacheWrite1h),
        ]
        return kinds.flatMap {
            member($0.name, $0.rate, isNeeded: neededKinds.contains($0.name))
        }
    }

    private mutating func member(_ name: String, _ value: Double?, isNeeded: Bool) -> [String] {
        guard value != nil || isNeeded else { return [] }
        if value == nil { isOpen = true }
        return ["\"\(name)\": \(value.map(Self.number) ?? "null")"]
    }

    private static func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? "\(value)"
    }

    /// In ASCII, so that no terminal acts on it.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: quoted += "\\" + String(UnicodeScalar(UInt8(unit)))
            case 0x20..<0x7F: quoted.unicodeScalars.append(UnicodeScalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return quoted + "\""
    }
}
