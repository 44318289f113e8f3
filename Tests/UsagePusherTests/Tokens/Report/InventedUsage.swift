import ClockZones
import Foundation

@testable import UsagePusher

/// Sums of requests that tests invent, one after the other, as a ledger would have them.
struct InventedUsage {
    private var sums = TokenBuckets()
    private let names = TokenNames()
    private let price: (String) -> PriceMatch?

    /// - Parameter prices: US dollars per million tokens.
    init(prices: [String: (input: Double, output: Double)] = [:]) {
        price = { name in
            prices[name].map {
                let rates = ModelPrice.Rates(input: $0.input, output: $0.output)
                return PriceMatch(price: ModelPrice(name: name, standard: .init(rates: rates), fast: 2))
            }
        }
    }

    init(prices: ModelPrices) { price = prices.match }

    /// At some time.
    mutating func add(
        of model: String?, _ counts: TokenCounts, source: String = "claude", tier: ServiceTier = .standard,
        cost: Double? = nil
    ) {
        add("2026-09-18T09:00:00Z", counts, model: model, tier: tier, source: source, cost: cost)
    }

    /// - Parameter time: "2026-09-18T09:23:00Z"
    mutating func add(
        _ time: String, _ counts: TokenCounts = TokenCounts(input: 1), model: String? = "m",
        tier: ServiceTier = .standard, session: String = "s", project: String? = nil,
        source: String = "claude", cost: Double? = nil
    ) {
        let record = TokenRecord(time: milliseconds(time), counts: counts, id: 0, tier: tier, ownCost: cost)
        let session = names.index(of: TokenSession(id: session, project: project, source: source))
        let entry = TokenEntry(
            record, file: 0, session: session, model: model.map { names.index(ofModel: $0) } ?? TokenEntry.noModel)
        if let entry { sums.add(TokenBucket(entry, price: model.flatMap(price))) }
    }

    var usage: TokenUsage {
        let content = names.current
        var usage = TokenUsage()
        usage.sessions = content.sessions
        usage.models = content.models
        var sums = sums
        usage.buckets = sums.takeSorted(by: TokenLineage(sessions: content.sessions))
        return usage
    }
}

func milliseconds(_ time: String) -> Int64 {
    Int64((utc(time).timeIntervalSince1970 * 1_000).rounded())
}

func query(_ zone: String = "UTC") -> ReportQuery {
    ReportQuery(zone: try! .named(zone))
}
