import ClockZones
import Foundation

@testable import UsagePusher

/// Sums of requests that tests invent, one after the other, as a ledger would have them.
struct InventedUsage {
    private var sums = TokenBuckets()
    private let names = TokenNames()
    /// US dollars per million tokens.
    private var prices: [String: ModelPrice] = [:]

    init(prices: [String: (input: Double, output: Double)] = [:]) {
        for (name, price) in prices {
            self.prices[name] = ModelPrice(
                name: name,
                standard: .init(rates: .init(input: price.input, output: price.output)), fast: 2)
        }
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
        let price = model.flatMap { prices[$0] }.map { PriceMatch(price: $0) }
        if let entry { sums.add(TokenBucket(entry, price: price)) }
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
