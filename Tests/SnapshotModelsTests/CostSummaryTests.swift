import Foundation
import Testing

@testable import SnapshotModels

@Suite("Costs")
struct CostSummaryTests {
    /// 2026-09-18T12:00:00Z, a Friday.
    private let now = Date(timeIntervalSince1970: 1_789_732_800)
    private let hour = 1_789_732_800 / 3_600

    private func provider(_ summary: SyncCostSummary) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(providerID: "gemini", providerName: "Gemini", lastUpdated: now, costSummary: summary)
    }

    @Test("hours survive a round trip as short lists")
    func coding() throws {
        let summary = SyncCostSummary(
            sessionCostUSD: 1, daily: [], historyDays: 30, historyCoverageIsEstablished: false,
            unpricedRequests: 3, unpricedTokens: 40,
            hourly: [
                SyncHourlyCost(hour: hour, totalTokens: 1_200, costUSD: 0.25),
                SyncHourlyCost(hour: hour + 1, totalTokens: 50, costUSD: 0.25, unpricedTokens: 40),
            ])
        let encoder = JSONEncoder()
        let data = try encoder.encode(summary)
        #expect(String(decoding: data, as: UTF8.self).contains("[\(hour),1200,250000],[\(hour + 1),50,250000,40]"))
        #expect(try JSONDecoder().decode(SyncCostSummary.self, from: data) == summary)
    }

    @Test("an unreadable hour is left out, and the others are read")
    func lenient() throws {
        let text =
            #"{"daily":[],"hourly":[[1,2,3],[1,2],["x",1,1],[-1,1,1],[1,-1,1],7,[3,1,1,-1],[3,1,1,"x"],[2,1,0,1]]}"#
        let summary = try JSONDecoder().decode(SyncCostSummary.self, from: Data(text.utf8))
        #expect(summary.hourly?.map(\.hour) == [1, 2])
        #expect(summary.hourly?.map(\.unpricedTokens) == [0, 1])
    }

    @Test("an hour belongs to the day in which it begins in the reader's zone")
    func days() {
        let summary = SyncCostSummary(hourly: [
            SyncHourlyCost(hour: hour - 11, totalTokens: 1, costUSD: 1),
            SyncHourlyCost(hour: hour - 12, totalTokens: 10, costUSD: 10),
            SyncHourlyCost(hour: hour - 13, totalTokens: 100, costUSD: 100),
            SyncHourlyCost(hour: hour - 24 * 40, totalTokens: 1_000, costUSD: 1_000),
        ])
        func tokens(_ offset: Int) -> [Int] {
            summary.days(3, until: now) { _ in offset }.map(\.totalTokens)
        }
        #expect(tokens(0) == [0, 100, 11])
        #expect(tokens(3_600) == [0, 0, 111])
        #expect(tokens(-3_600) == [0, 110, 1])
        #expect(tokens(19_800) == [0, 0, 111])
    }

    @Test("a reader of days alone gets the writer's")
    func writersDays() {
        let summary = SyncCostSummary(daily: [
            SyncDailyCost(dayKey: "2026-09-17", costUSD: 1, totalTokens: 5),
            SyncDailyCost(dayKey: "no day", costUSD: 1, totalTokens: 5),
            SyncDailyCost(dayKey: "2026-09-18", costUSD: 2, totalTokens: 7),
        ])
        #expect(summary.days(2, until: now) { _ in 0 }.map(\.totalTokens) == [5, 7])
    }

    @Test("logs of two devices are added by hour and day, and each device's part is kept")
    func sum() throws {
        func device(_ name: String, _ tokens: Int) -> SyncedUsageSnapshot {
            SyncedUsageSnapshot(
                providers: [
                    provider(
                        SyncCostSummary(
                            last30DaysCostUSD: name == "b" ? nil : 1, last30DaysTokens: tokens,
                            daily: [SyncDailyCost(dayKey: "2026-09-18", costUSD: 1, totalTokens: tokens)],
                            historyCoverageIsEstablished: name != "b",
                            hourly: [SyncHourlyCost(hour: hour, totalTokens: tokens, costUSD: 1)]))
                ], syncTimestamp: now, deviceName: name, deviceID: name)
        }
        let merged = SnapshotMerge.merge([device("a", 1), device("b", 2)], now: now)
        let summary = try #require(merged.providers.first?.snapshot.costSummary)
        #expect(summary.hourly == [SyncHourlyCost(hour: hour, totalTokens: 3, costUSD: 2)])
        #expect(summary.daily?.map(\.totalTokens) == [3])
        #expect(summary.last30DaysTokens == 3)
        #expect(summary.last30DaysCostUSD == nil, "the cost of one device is not known completely")
        #expect(summary.historyCoverageIsEstablished == false)
        #expect(merged.providers[0].parts.map { $0.costSummary?.last30DaysTokens } == [1, 2])
    }

    @Test("tokens without a price are added by hour and day, unless a device only says that it has some")
    func unpriced() {
        func device(_ tokens: Int?, requests: Int? = 1) -> SyncCostSummary {
            SyncCostSummary(
                daily: [SyncDailyCost(dayKey: "2026-09-18", costUSD: 1, totalTokens: 9, unpricedTokens: tokens)],
                unpricedRequests: requests, unpricedTokens: tokens,
                hourly: [SyncHourlyCost(hour: hour, totalTokens: 9, costUSD: 1, unpricedTokens: tokens ?? 0)])
        }
        let sum = SyncCostSummary.sum([device(2), device(3), device(nil, requests: nil)])
        #expect(sum?.unpricedTokens == 5 && sum?.unpricedRequests == 2)
        #expect(sum?.daily?.map(\.unpricedTokens) == [5])
        #expect(sum?.days(2, until: now) { _ in 0 }.map(\.unpricedTokens) == [0, 5])
        var days = sum
        days?.hourly = nil
        #expect(days?.days(2, until: now) { _ in 0 }.map(\.unpricedTokens) == [0, 5])
        #expect(SyncCostSummary.sum([device(2), device(nil)])?.unpricedTokens == nil)
    }

    @Test("what CodexBar's readers require is always written")
    func required() throws {
        let summary = SyncCostSummary(sessionTokens: 5, daily: [SyncDailyCost(dayKey: "2026-09-18", costUSD: .nan)])
        for (summary, days) in [
            (summary, #""daily":[{"costUSD":0,"dayKey":"2026-09-18","totalTokens":0}]"#),
            (SyncCostSummary(sessionTokens: 5), #""daily":[]"#),
        ] {
            let data = try SnapshotCodec.encode(
                SyncedUsageSnapshot(providers: [provider(summary)], syncTimestamp: now, deviceName: "box"))
            #expect(String(decoding: data, as: UTF8.self).contains(days))
        }
    }
}
