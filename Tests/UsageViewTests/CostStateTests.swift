import ClockZones
import Essentials
import Foundation
import SnapshotModels
import Testing

@testable import UsageState

@Suite("Costs on a card")
struct CostStateTests {
    /// 2026-09-18T12:00:00Z
    private let now = Date(timeIntervalSince1970: 1_789_732_800)
    private let hour = 1_789_732_800 / 3_600

    private func cost(_ summary: SyncCostSummary) throws -> CostState {
        let snapshot = SyncedUsageSnapshot(
            providers: [
                ProviderUsageSnapshot(providerID: "kimi", providerName: "Kimi", lastUpdated: now, costSummary: summary)
            ], syncTimestamp: now, deviceName: "box", deviceID: "d")
        let merged = SnapshotMerge.merge([snapshot], now: now)
        return try #require(CostState(merged.providers[0], now: now, zone: .fixed(secondsFromGMT: 0)))
    }

    private func hours(_ hours: (ago: Int, tokens: Int, cost: Double, unpriced: Int)...) -> SyncCostSummary {
        let unpriced = hours.reduce(0) { $0 + $1.unpriced }
        return SyncCostSummary(
            daily: [], unpricedRequests: unpriced > 0 ? 3 : nil, unpricedTokens: unpriced > 0 ? unpriced : nil,
            hourly: hours.map {
                SyncHourlyCost(
                    hour: hour - $0.ago, totalTokens: $0.tokens, costUSD: $0.cost, unpricedTokens: $0.unpriced)
            })
    }

    @Test("a sum that lacks tokens is marked, and says how many and which part of all")
    func summary() throws {
        let whole = try cost(hours((0, 1_000, 1.2, 0), (240, 9_000, 3, 0))).summary
        #expect(whole == "today $1.20 (1k tokens) · 7 days $1.20 · 30 days $4.20")
        let part = try cost(hours((0, 1_000, 1.2, 0), (240, 9_000, 3, 4_000))).summary
        #expect(part == "today $1.20 (1k tokens) · 7 days $1.20 · 30 days $4.20+" + " · not priced: 4k tokens (40 %)")
        let none = try cost(hours((0, 1_000, 0, 1_000))).summary
        #expect(none == "today 1k tokens · 7 days 1k tokens · 30 days 1k tokens" + " · not priced: 1k tokens (100 %)")
    }

    @Test("what an early writer does not date marks every sum")
    func early() throws {
        var summary = hours((0, 1_000, 1.2, 0))
        summary.unpricedRequests = 2
        let text = try cost(summary).summary
        #expect(text == "today $1.20+ (1k tokens) · 7 days $1.20+ · 30 days $1.20+")
    }

    @Test("the form of a whole sum does not change")
    func coding() throws {
        let whole = try cost(hours((0, 1_000, 1.2, 0)))
        let text = String(decoding: try JSONEncoder().encode(whole), as: UTF8.self)
        #expect(!text.contains("unpricedTokens"))
        let part = try cost(hours((0, 1_000, 1.2, 10)))
        #expect(try JSONDecoder().decode(CostState.self, from: JSONEncoder().encode(part)) == part)
        #expect(part.today.unpricedTokens == 10)
    }
}
