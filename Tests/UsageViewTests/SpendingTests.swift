import ClockZones
import Essentials
import SnapshotModels
import StoreTestSupport
import Testing

@testable import UsageState

@Suite("Spending")
struct SpendingTests {
    /// 2026-09-18T12:00:00Z, a Friday.
    private static let now = Date(timeIntervalSince1970: 1_789_732_800)

    /// Two accounts of one tool and one of another, on two machines, with requests at random hours.
    static let model = random(seed: 7).model

    private struct Truth {
        var today = 0.0
        var month = 0.0
        var days: [Int: Double] = [:]
        var models: [String: Double] = [:]
        var tools: [String: Double] = [:]
        var devices: [String: Double] = [:]
    }

    private static func random(seed: UInt64) -> (model: ViewModel, truth: Truth) {
        var random = SeededGenerator(seed: seed)
        var truth = Truth()
        let today = Int(now.timeIntervalSince1970) / 86_400
        let snapshots = ["desk", "laptop"].map { device in
            let accounts = [("codex", "a@example.test"), ("codex", "b@example.test"), ("claude", nil)]
            let providers = accounts.map { tool, account in
                var hours: [SyncHourlyCost] = []
                var daily: [SyncDailyCost] = []
                for ago in stride(from: 35, through: 0, by: -1) where Bool.random(using: &random) {
                    let cost = Double(Int.random(in: 1...900, using: &random)) / 4
                    let model = ["large", "small"].randomElement(using: &random) ?? "large"
                    let start = now.addingTimeInterval(-86_400 * Double(ago))
                    hours.append(
                        SyncHourlyCost(
                            hour: Int(start.timeIntervalSince1970) / 3_600, totalTokens: 1_000, costUSD: cost,
                            unpricedTokens: 0))
                    guard ago < 30 else { continue }
                    daily.append(
                        SyncDailyCost(
                            dayKey: String(start.ISO8601Format().prefix(10)), costUSD: cost, totalTokens: 1_000,
                            modelBreakdowns: [SyncCostBreakdown(label: model, costUSD: cost)]))
                    truth.today += ago == 0 ? cost : 0
                    truth.month += cost
                    truth.days[today - ago, default: 0] += cost
                    truth.models[model, default: 0] += cost
                    truth.tools[tool, default: 0] += cost
                    truth.devices[device, default: 0] += cost
                }
                return ProviderUsageSnapshot(
                    providerID: tool, providerName: tool, accountEmail: account, lastUpdated: now,
                    costSummary: SyncCostSummary(daily: daily, hourly: hours))
            }
            return SyncedUsageSnapshot(
                providers: providers, syncTimestamp: now, deviceName: device, deviceID: "id of \(device)")
        }
        let stored = UsageData.Stored.usage(SnapshotMerge.merge(snapshots, now: now))
        return (
            ViewModel(data: UsageData(link: .online, stored: stored), now: now, zone: .gmt), truth
        )
    }

    @Test(
        "all accounts together are the sum of their requests: in all, by day, tool, model and device",
        arguments: 1...200 as ClosedRange<UInt64>)
    func sums(seed: UInt64) throws {
        let (model, truth) = Self.random(seed: seed)
        let spending = try #require(Spending(model))
        func money(_ cost: Double) -> String { AmountFormatter.money(cost, currency: "USD") }
        let all = try #require(spending.accounts.rows.first)
        #expect(all.name == "All accounts" && all.texts[2] == money(truth.month))
        #expect(truth.today == 0 || all.texts[0] == money(truth.today))
        #expect(
            spending.accounts.rows.dropFirst().map(\.id).allSatisfy { id in model.providers.contains { $0.id == id } })

        #expect(
            spending.days.map(\.number)
                == Array((spending.days.last?.number ?? 0) - 29...(spending.days.last?.number ?? 0)))
        for day in spending.days {
            let cost = truth.days[day.number] ?? 0
            #expect((day.level > 0) == (cost > 0), "\(day)")
            #expect(cost == 0 || day.text.hasSuffix(", " + money(cost)), "\(day)")
            for other in spending.days where cost > truth.days[other.number] ?? 0 { #expect(day.level >= other.level) }
        }
        #expect(spending.days.last?.weekday == 4)

        func rows(_ title: String) -> [String: String] {
            let table = spending.tables.first { $0.title == title }
            return Dictionary(uniqueKeysWithValues: (table?.rows ?? []).map { ($0.name, $0.texts.last ?? "") })
        }
        #expect(rows("By tool, 30 days") == truth.tools.mapValues(money))
        #expect(rows("By model, 30 days") == truth.models.mapValues(money))
        #expect(rows("By device, 30 days") == truth.devices.mapValues(money))
    }
}
