import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Publishing a snapshot")
struct SnapshotPublisherTests {
    private func snapshot(
        _ device: String, percent: Double, at date: Date = testNow, tokens: Int? = nil
    ) -> SyncedUsageSnapshot {
        let provider = ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude",
            primary: SyncRateWindow(usedPercent: percent, windowMinutes: 300),
            lastUpdated: date, costSummary: tokens.map { SyncCostSummary(sessionTokens: $0) })
        return SyncedUsageSnapshot(
            providers: [provider], syncTimestamp: date, deviceName: "name of \(device)",
            deviceID: device)
    }

    @Test("a single device writes the same value under both keys")
    func lone() throws {
        let sink = MemorySink()
        let own = snapshot("a", percent: 10)
        let receipt = try SnapshotPublisher(sink: sink).publish(own, at: testNow)
        #expect(receipt.deviceCount == 1)
        #expect(Set(sink.values.keys) == ["com.codexbar.usage.snapshot", "com.codexbar.usage.snapshot.a"])
        #expect(sink.snapshot("com.codexbar.usage.snapshot.a") == own)
        #expect(sink.snapshot()?.deviceID == "a")
        #expect(sink.snapshot()?.providers[0].primary == own.providers[0].primary)
    }

    @Test("the shared key contains the merge: newest windows, tokens summed")
    func merge() throws {
        let sink = MemorySink()
        let publisher = SnapshotPublisher(sink: sink)
        try publisher.publish(snapshot("a", percent: 10, at: testNow - 60, tokens: 5), at: testNow)
        try publisher.publish(snapshot("b", percent: 20, tokens: 7), at: testNow)
        try publisher.publish(snapshot("a", percent: 15, at: testNow - 30, tokens: 6), at: testNow)
        let merged = try #require(sink.snapshot())
        #expect(merged.providers.count == 1)
        #expect(merged.providers[0].primary?.usedPercent == 20)
        #expect(merged.providers[0].costSummary?.sessionTokens == 13)
        #expect(merged.deviceName == "name of a, name of b")
        #expect(sink.snapshot("com.codexbar.usage.snapshot.a")?.providers[0].primary?.usedPercent == 15)
    }

    @Test("a device silent for a week and an invalid snapshot are left out")
    func old() throws {
        let sink = MemorySink()
        let publisher = SnapshotPublisher(sink: sink)
        let past = testNow - 7 * 86_400
        try publisher.publish(snapshot("old", percent: 90, at: past), at: past)
        sink.receive(Data("{".utf8), forKey: "com.codexbar.usage.snapshot.broken")
        let receipt = try publisher.publish(snapshot("a", percent: 10), at: testNow)
        #expect(receipt.deviceCount == 1)
        #expect(sink.snapshot()?.deviceName == "name of a")
        #expect(sink.snapshot("com.codexbar.usage.snapshot.old") != nil)
    }

    @Test("an error of the store is rethrown")
    func refused() {
        let sink = MemorySink()
        sink.refuseNext(1)
        #expect(throws: MemorySink.Refusal.self) {
            try SnapshotPublisher(sink: sink).publish(snapshot("a", percent: 1), at: testNow)
        }
    }

    @Test("details are left out before limits")
    func trimming() throws {
        var large = snapshot("a", percent: 10)
        large.providers[0].costSummary = SyncCostSummary(
            sessionTokens: 5,
            daily: (0..<31).map { day in
                SyncDailyCost(
                    dayKey: "2026-08-\(day)", costUSD: 1,
                    modelBreakdowns: (0..<24).map { .init(label: "model \($0)", costUSD: 1) })
            })
        let full = try SnapshotCodec.encode(large).count
        let slim = try SnapshotCodec.decode(SnapshotTrimming.encode(large, byteCount: full - 1))
        #expect(slim.providers[0].costSummary?.daily?.count == 31)
        #expect(slim.providers[0].costSummary?.daily?[0].modelBreakdowns == nil)
        let slimmest = try SnapshotCodec.decode(SnapshotTrimming.encode(large, byteCount: 600))
        #expect(slimmest.providers[0].costSummary == SyncCostSummary(sessionTokens: 5, daily: []))
        #expect(slimmest.providers[0].primary?.usedPercent == 10)
        #expect(try SnapshotTrimming.encode(large, byteCount: full).count == full)
    }
}
