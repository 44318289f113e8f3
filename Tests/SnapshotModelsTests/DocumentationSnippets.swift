import Foundation
import SnapshotModels
import StoreTestSupport
import Testing

@Suite("Snippets: snapshots")
struct SnapshotSnippets {
    private let now = GeneratedSnapshots.now
    private let print = PrintedLines()

    @Test("a snapshot is made, encoded and read")
    func codec() throws {
        let window = SyncRateWindow(usedPercent: 42, windowMinutes: 300, resetsAt: now.addingTimeInterval(3_600))
        let claude = ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude", primary: window, lastUpdated: now)
        let snapshot = SyncedUsageSnapshot(providers: [claude], syncTimestamp: now, deviceName: "desk")
        let data = try SnapshotCodec.encode(snapshot)
        let reading = try SnapshotCodec.decodeCountingSkips(data)
        print(reading.snapshot.deviceName, reading.skippedProviders)  // desk 0
        if data.count > SnapshotLimits.documentBytes { print("too large to store under one key") }
        do throws(SnapshotCodecError) {
            print(try SnapshotCodec.decode(Data("{}".utf8)).deviceName)
        } catch {
            print(error)  // the value is not a usage snapshot (…): push again, or update this program
        }
        #expect(reading.snapshot.providers[0].windows == [window])
        #expect(print.lines.count == 2 && print.lines[0] == "desk 0")
        #expect(print.lines[1].hasPrefix("the value is not a usage snapshot ("))
    }

    @Test("the merge of two devices says whose windows count, with costs and a budget")
    func merge() {
        var claude = ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude", primary: SyncRateWindow(usedPercent: 42), lastUpdated: now)
        let laptop = SyncedUsageSnapshot(
            providers: [claude], syncTimestamp: now, deviceName: "laptop", deviceID: "2")
        claude.lastUpdated = now.addingTimeInterval(-60)
        claude.budget = SyncBudget(usedAmount: 12.5, limitAmount: 50, currencyCode: "USD", period: "month")
        claude.credits = SyncCredits(balance: 20)
        let day = SyncDailyCost(
            dayKey: "2026-09-18", costUSD: 1.25, totalTokens: 90_000,
            modelBreakdowns: [SyncCostBreakdown(label: "claude-opus-5", costUSD: 1.25)])
        let hour = SyncHourlyCost(hour: 497_148, totalTokens: 90_000, costUSD: 1.25)  // from 12:00 UTC
        claude.costSummary = SyncCostSummary(daily: [day], hourly: [hour])
        let desk = SyncedUsageSnapshot(providers: [claude], syncTimestamp: now, deviceName: "desk", deviceID: "1")
        let merged = SnapshotMerge.merge([desk, laptop], now: now)
        print(merged.devices.map(\.name))  // ["desk", "laptop"]
        for provider in merged.providers {
            print(provider.snapshot.providerName, provider.parts.filter(\.suppliesWindows).map(\.deviceName))
        }
        #expect(print.lines == [#"["desk", "laptop"]"#, #"Claude ["laptop"]"#])
        #expect(merged.providers[0].snapshot.budget == claude.budget)
        #expect(merged.providers[0].snapshot.credits == claude.credits)
        #expect(merged.providers[0].snapshot.costSummary?.hourly == [hour])
        #expect(Date(timeIntervalSince1970: Double(hour.hour) * 3_600).ISO8601Format() == "2026-09-18T12:00:00Z")
    }
}
