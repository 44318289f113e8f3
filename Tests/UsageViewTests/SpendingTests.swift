import ClockZones
import Foundation
import SnapshotModels
import StoreTestSupport
import Testing

@testable import UsageState

@Suite("Spending")
struct SpendingTests {
    /// Half an hour after midnight in Berlin, a day after its clocks went forward.
    private static let afterChange = Date(timeIntervalSince1970: 1_774_823_400)
    private static let zones = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Chatham"]

    static func model() throws -> ViewModel { try History(seed: 7).model }

    private struct Sum: Equatable {
        var cost = 0.0
        var unpriced = 0

        static func += (sum: inout Sum, request: Sum) {
            sum.cost += request.cost
            sum.unpriced += request.unpriced
        }

        var text: String {
            cost == 0 && unpriced > 0
                ? "not priced" : AmountFormatter.money(cost, currency: "USD") + (unpriced > 0 ? "+" : "")
        }
    }

    /// Requests of three machines, not all of which have logs, with two accounts of one tool and one of another.
    private struct History {
        let model: ViewModel
        let calendar: Calendar
        var today = Sum()
        var month = Sum()
        var days: [Date: Sum] = [:]
        var models: [String: Double] = [:]
        var tools: [String: Sum] = [:]
        var devices: [String: Sum] = [:]

        init(seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            let zone = zones[Int(seed) % zones.count]
            let now = seed.isMultiple(of: 3) ? afterChange : Date(timeIntervalSince1970: 1_789_732_800)
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
            self.calendar = calendar
            let first = calendar.date(byAdding: .day, value: -29, to: calendar.startOfDay(for: now)) ?? now
            var snapshots: [SyncedUsageSnapshot] = []
            for device in ["attic", "desk", "laptop"] {
                var providers: [ProviderUsageSnapshot] = []
                for (tool, account) in [("codex", "a@example.test"), ("codex", "b@example.test"), ("claude", nil)] {
                    var hours: [SyncHourlyCost] = []
                    var daily: [SyncDailyCost] = []
                    let hasLogs = Int.random(in: 0..<3, using: &random) > 0
                    for ago in stride(from: 35 * 24, through: 0, by: -1)
                    where hasLogs && Int.random(in: 0..<20, using: &random) == 0 {
                        let hour = Int(now.timeIntervalSince1970) / 3_600 - ago
                        let isPriced = Int.random(in: 0..<40, using: &random) > 0
                        let cost = isPriced ? Double(Int.random(in: 1...900, using: &random)) / 4 : 0
                        let sum = Sum(cost: cost, unpriced: isPriced ? 0 : 1_000)
                        hours.append(
                            SyncHourlyCost(
                                hour: hour, totalTokens: 1_000, costUSD: cost, unpricedTokens: sum.unpriced))
                        let start = Date(timeIntervalSince1970: Double(hour) * 3_600)
                        guard start >= first else { continue }
                        let model = ["large", "small"].randomElement(using: &random) ?? "large"
                        let part = SyncCostBreakdown(label: model, costUSD: cost)
                        daily.append(
                            SyncDailyCost(
                                dayKey: String(start.ISO8601Format().prefix(10)), costUSD: cost, totalTokens: 1_000,
                                modelBreakdowns: isPriced ? [part] : []))
                        if isPriced { models[model, default: 0] += cost }
                        if calendar.isDate(start, inSameDayAs: now) { today += sum }
                        month += sum
                        days[calendar.startOfDay(for: start), default: Sum()] += sum
                        tools[tool, default: Sum()] += sum
                        devices[device, default: Sum()] += sum
                    }
                    providers.append(
                        ProviderUsageSnapshot(
                            providerID: tool, providerName: tool, accountEmail: account, lastUpdated: now,
                            costSummary: hasLogs ? SyncCostSummary(daily: daily, hourly: hours) : nil))
                }
                snapshots.append(
                    SyncedUsageSnapshot(
                        providers: providers, syncTimestamp: now, deviceName: device, deviceID: "id of \(device)"))
            }
            let stored = UsageData.Stored.usage(SnapshotMerge.merge(snapshots, now: now))
            model = ViewModel(
                data: UsageData(link: .online, stored: stored), now: now, zone: try .named(zone))
        }
    }

    @Test(
        "what all accounts cost is the sum of their requests: in all, by day, tool, model and the device with the logs",
        arguments: 1...200 as ClosedRange<UInt64>)
    func sums(seed: UInt64) throws {
        let truth = try History(seed: seed)
        let model = truth.model
        guard let spending = Spending(model.providers, model) else {
            #expect(truth.month == Sum())
            return
        }
        func shown(_ sum: Sum) -> String { sum.text == "not priced" ? "\(sum.unpriced / 1_000)k tokens" : sum.text }
        let all = try #require(spending.accounts.rows.first)
        #expect(all.texts[2] == shown(truth.month) && all.texts[0] == shown(truth.today))
        let ids = spending.accounts.rows.compactMap(\.id)
        #expect((all.name == "All accounts") == (ids.count > 1))
        #expect(ids.allSatisfy { id in model.providers.contains { $0.id == id } })

        let now = truth.calendar.startOfDay(for: model.now)
        #expect(spending.days.count == 30)
        for (ago, day) in spending.days.reversed().enumerated() {
            let date = try #require(truth.calendar.date(byAdding: .day, value: -ago, to: now))
            let sum = truth.days[date] ?? Sum()
            #expect((day.level > 0) == (sum != Sum()), "\(day)")
            #expect((day.level == 4) || sum.cost < (truth.days.values.map(\.cost).max() ?? 0), "\(day)")
            #expect(day.weekday == (truth.calendar.component(.weekday, from: date) + 5) % 7)
            let label = date.formatted(
                Date.VerbatimFormatStyle(
                    format: "\(weekday: .abbreviated) \(day: .defaultDigits) \(month: .abbreviated)",
                    locale: Locale(identifier: "en_US"), timeZone: truth.calendar.timeZone, calendar: truth.calendar))
            #expect(day.text.hasPrefix(label + ": ") && day.text.hasSuffix(", " + sum.text), "\(day), \(label)")
        }
        func costs(_ title: String) -> [String: String]? {
            spending.tables.first { $0.title == title }.map { table in
                Dictionary(uniqueKeysWithValues: table.rows.map { ($0.name, $0.texts.last ?? "") })
            }
        }
        let tools = costs("By tool, 30 days")
        #expect(tools == nil ? ids.count == truth.tools.count : tools == truth.tools.mapValues(\.text))
        #expect(
            (costs("By model, 30 days") ?? [:])
                == truth.models.mapValues { AmountFormatter.money($0, currency: "USD") })
        let devices = costs("By device, 30 days")
        #expect(devices == nil ? truth.devices.count < 2 : devices == truth.devices.mapValues(\.text))
    }

    @Test("a period that an account does not state is not known of all, and what has no price marks every sum")
    func unstated() throws {
        let now = Self.afterChange
        func account(_ name: String, _ cost: SyncCostSummary) -> ProviderUsageSnapshot {
            ProviderUsageSnapshot(providerID: name, providerName: name, lastUpdated: now, costSummary: cost)
        }
        func rows(_ accounts: ProviderUsageSnapshot...) throws -> [[String]] {
            let snapshot = SyncedUsageSnapshot(
                providers: accounts, syncTimestamp: now, deviceName: "box", deviceID: "d")
            let merged = SnapshotMerge.merge([snapshot], now: now)
            let model = ViewModel(data: UsageData(link: .online, stored: .usage(merged)), now: now, zone: .gmt)
            return try #require(Spending(model.providers, model)).accounts.rows.map(\.texts)
        }
        let hour = Int(now.timeIntervalSince1970) / 3_600
        let dated = SyncCostSummary(
            daily: [], hourly: [SyncHourlyCost(hour: hour, totalTokens: 1_000, costUSD: 2, unpricedTokens: 0)])
        let undated = SyncCostSummary(
            sessionCostUSD: 1, sessionTokens: 10, last30DaysCostUSD: 5, last30DaysTokens: 100, unpricedRequests: 3)
        #expect(try rows(account("a", dated)) == [["$2.00", "$2.00", "$2.00"]])
        #expect(
            try rows(account("a", dated), account("b", undated))
                == [["$3.00+", "–", "$7.00+"], ["$1.00+", "–", "$5.00+"], ["$2.00", "$2.00", "$2.00"]])
    }
}
