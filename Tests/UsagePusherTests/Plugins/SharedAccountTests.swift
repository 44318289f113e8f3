import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Accounts that several sources know")
struct SharedAccountTests {
    private func card(
        _ id: String, _ used: Double, age: TimeInterval, email: String? = nil, cost: Double? = nil
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: id, providerName: id, accountEmail: email, lastUpdated: sampleNow - age,
            rateWindows: [SyncRateWindow(usedPercent: used, windowMinutes: 300, resetsAt: sampleNow + 3_600)],
            costSummary: cost.map { SyncCostSummary(last30DaysCostUSD: $0) })
    }

    private func merged(_ sources: [[ProviderUsageSnapshot]]) -> [ProviderUsageSnapshot] {
        SnapshotMerge.mergeSources(sources, now: sampleNow)
    }

    @Test("the newest observation counts, on one card, in the first place")
    func newest() {
        let own = card("claude", 20, age: 60, email: "dev@example.test")
        let newer = card("claude", 30, age: 5)
        let cards = merged([[own], [card("codex", 1, age: 0)], [newer], [card("zai", 2, age: 0)]])
        #expect(cards.map(\.providerID) == ["claude", "codex", "zai"])
        #expect(cards[0].windows.map(\.usedPercent) == [30])
        #expect(cards[0].accountEmail == "dev@example.test")
        let older = card("claude", 10, age: 600, email: "DEV@example.test")
        #expect(merged([[own], [older]])[0].windows.map(\.usedPercent) == [20])
    }

    @Test("another account keeps its card")
    func accounts() {
        let cards = merged([
            [card("claude", 20, age: 60, email: "dev@example.test")],
            [card("claude", 30, age: 5, email: "ops@example.test")],
        ])
        #expect(cards.count == 2)
    }

    @Test("costs of the same logs are not summed")
    func costs() {
        let cards = merged([
            [card("claude", 20, age: 60, cost: 5)], [card("claude", 30, age: 5, cost: 4)],
        ])
        #expect(cards.map(\.costSummary?.last30DaysCostUSD) == [5])
    }

    @Test("a provider that one source knows is left as it is")
    func untouched() {
        let cards = [card("b", 1, age: 0), card("a", 2, age: 0, cost: 1), card("a", 3, age: 9)]
        #expect(merged([cards, [card("c", 4, age: 0)]]).prefix(3) == cards[...])
    }

    @Test("a snapshot has one card for an account of two documents and a tool's own files")
    func snapshot() throws {
        let home = try SampleHome(copying: "plugins/codexbar")
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:59:50Z", 37, 56))
        var builder = SnapshotBuilder(
            sources: UsageSources.all, environment: home.environment(), device: DeviceIdentity(id: nil, name: "box"))
        builder.readAll(at: sampleNow)
        let providers = try #require(builder.snapshot(at: sampleNow)).providers
        let codex = providers.filter { $0.providerID == "codex" }
        #expect(codex.count == 1)
        // The last one is stated by the document alone.
        #expect(codex[0].windows.map(\.usedPercent) == [37, 56, 4])
        #expect(codex[0].credits?.balance == 12.5)
        #expect(Set(providers.map(\.providerID)) == ["claude", "codex", "opencodego"])
    }
}
