import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Costs of a snapshot")
struct CostPushTests {
    private func line(_ id: String, _ time: String, model: String = "claude-opus-5") -> String {
        #"{"type":"assistant","timestamp":"\#(time)","sessionId":"s","requestId":"r","#
            + #""message":{"id":"\#(id)","model":"\#(model)","usage":{"input_tokens":100000,"output_tokens":10000}}}"#
            + "\n"
    }

    private func snapshot(_ home: SampleHome) throws -> SyncedUsageSnapshot {
        var builder = SnapshotBuilder(
            sources: UsageSources.all, environment: home.environment(), device: DeviceIdentity(id: "d", name: "box"))
        builder.includeCosts(prices: .packaged)
        builder.readAll(at: sampleNow)
        builder.updateCosts(at: sampleNow)
        return try #require(builder.snapshot(at: sampleNow))
    }

    @Test("30 days are pushed with the writer's days, models and hours, and what CodexBar's readers require")
    func summary() throws {
        let home = try SampleHome()
        try home.write(
            ".claude/projects/p/s.jsonl",
            line("m1", "2026-09-18T11:00:00Z")
                + line("m2", "2026-09-18T11:20:00Z", model: "claude-sonnet-5")
                + line("m3", "2026-09-10T11:00:00Z") + line("old", "2026-08-01T11:00:00Z"))
        let card = try #require(try snapshot(home).providers.first { $0.providerID == "claude" })
        let costs = try #require(card.costSummary)
        // Opus 5: 0.1 M × $5 + 0.01 M × $25 = $0.75; Sonnet 5: 0.1 × $2 + 0.01 × $10 = $0.30.
        #expect(costs.sessionCostUSD == 1.05)
        #expect(costs.last30DaysCostUSD == 1.8)
        #expect(costs.last30DaysTokens == 330_000)
        #expect(costs.daily?.map(\.dayKey) == ["2026-09-10", "2026-09-18"])
        #expect(costs.daily?.allSatisfy { $0.costUSD != nil && $0.totalTokens != nil } == true)
        #expect(
            costs.daily?.last?.modelBreakdowns == [
                SyncCostBreakdown(label: "claude-opus-5", costUSD: 0.75),
                SyncCostBreakdown(label: "claude-sonnet-5", costUSD: 0.3),
            ])
        #expect(costs.hourly?.map(\.totalTokens) == [110_000, 220_000])
        #expect(costs.historyCoverageIsEstablished == true)
    }

    @Test("a model without a price leaves the total open instead of wrong")
    func unknownModel() throws {
        let home = try SampleHome()
        try home.write(
            ".claude/projects/p/s.jsonl",
            line("m1", "2026-09-18T11:00:00Z") + line("m2", "2026-09-18T11:20:00Z", model: "claude-opus-9"))
        let costs = try #require(try snapshot(home).providers.first { $0.providerID == "claude" }?.costSummary)
        #expect(costs.last30DaysCostUSD == nil)
        #expect(costs.sessionCostUSD == 0.75)
        #expect(costs.unpricedRequests == 1 && costs.unpricedTokens == 110_000)
        #expect(costs.daily?.map(\.unpricedTokens) == [110_000])
        #expect(costs.hourly?.map(\.unpricedTokens) == [110_000])
        #expect(costs.last30DaysTokens == 220_000)
    }
}
