import ClockZones
import Foundation
import SnapshotModels
import StoreTestSupport
import TerminalText
import Testing

@testable import UsageState
@testable import usage_view

@Suite("A year of spending")
struct SpendingYearTests {
    /// 2026-09-18T12:00:00Z, a Friday.
    private static let now = Date(timeIntervalSince1970: 1_789_732_800)
    private static let today = 20_714

    /// A year that a machine has stored, and snapshots of the last 30 days, with what each day has, in cents.
    private struct World {
        var model: ViewModel
        var cents: [Int: Int] = [:]

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            var days: [Int: (dollars: Double, tokens: Int)] = [:]
            let first = Int.random(in: 0..<500, using: &random)
            for ago in -3...first where Int.random(in: 0..<4, using: &random) > 0 {
                let cents = Int.random(in: 1...9_000, using: &random)
                days[today - ago] = (Double(cents) / 100, cents * 1_000)
                if (0..<367).contains(ago) { self.cents[today - ago] = cents }
            }
            let year = UsageYear(days: days, at: now.addingTimeInterval(86_400 * 5))
            var providers: [ProviderUsageSnapshot] = []
            if Bool.random(using: &random) {
                for ago in 0..<30 { cents[today - ago] = nil }
                var hours: [SyncHourlyCost] = []
                for ago in 0..<30 where Bool.random(using: &random) {
                    let amount = Int.random(in: 1...9_000, using: &random)
                    cents[today - ago] = amount
                    hours.append(
                        SyncHourlyCost(
                            hour: (today - ago) * 24 + 11, totalTokens: amount * 1_000, costUSD: Double(amount) / 100,
                            unpricedTokens: 0))
                }
                providers.append(
                    ProviderUsageSnapshot(
                        providerID: "codex", providerName: "Codex", lastUpdated: now,
                        costSummary: SyncCostSummary(hourly: hours)))
            }
            let snapshot = SyncedUsageSnapshot(
                providers: providers, syncTimestamp: now, deviceName: "box", deviceID: "d")
            var data = UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: now)))
            data.year = year
            model = ViewModel(data: data, now: now, zone: .gmt)
        }
    }

    static func year(at now: Date) -> UsageYear {
        let today = Int(now.timeIntervalSince1970) / 86_400
        let days = (0..<400).filter { $0 % 7 != 2 && !(90..<104).contains($0) }.map { ago in
            (today - ago, (dollars: Double((ago * 37) % 101) / 4, tokens: (ago * 37) % 101 * 10_000))
        }
        return UsageYear(days: Dictionary(uniqueKeysWithValues: days), at: now)
    }

    /// The amount that a text states.
    private func dollars(_ text: String) throws -> Double {
        let found = try #require(text.firstMatch(of: /\$([\d.]+)/), "\(text)")
        return try #require(Double(found.1))
    }

    @Test(
        "each day has what was used on it, the days add up to the total, and the record is the greatest of them",
        arguments: 1...200 as ClosedRange<UInt64>)
    func days(seed: UInt64) throws {
        let world = World(seed: seed)
        let spending = try #require(Spending(world.model.providers, world.model))
        let (first, last) = (try #require(spending.days.first), try #require(spending.days.last))
        #expect(last.number == Self.today && spending.days.map(\.number) == Array(first.number...last.number))
        #expect((30...UsageYear.dayCount).contains(spending.days.count))
        #expect(spending.days.count == 30 || first.weekday == 0)
        #expect(world.cents.keys.allSatisfy { $0 >= first.number })
        for day in spending.days {
            let cents = world.cents[day.number] ?? 0
            #expect(try dollars(day.text) == Double(cents) / 100, "\(day)")
            #expect((day.level > 0) == (cents > 0) && (0...4).contains(day.level), "\(day)")
            let lesser = spending.days.filter { $0.level < day.level }
            #expect(lesser.allSatisfy { world.cents[$0.number] ?? 0 < cents }, "\(day)")
        }
        let year = try #require(spending.year)
        let shown = spending.days.map { world.cents[$0.number] ?? 0 }
        #expect(try dollars(year.total) == Double(shown.reduce(0, +)) / 100)
        let record = try #require(year.record)
        #expect(try dollars(record) == Double(shown.max() ?? 0) / 100)
        let streak = shown.split(separator: 0).map(\.count).max() ?? 0
        #expect(record.hasSuffix(streak == 1 ? " 1 day" : " \(streak) days"))
    }

    @Test("days of another year say which, and a cost that the year does not know is not said to be none")
    func texts() throws {
        var data = UsageData(link: .online, stored: .nothing)
        data.year = UsageYear(days: [20_450: (1, 1_000), 20_451: (0, 5_000)], at: Self.now)
        let days = try #require(Spending([], ViewModel(data: data, now: Self.now, zone: .gmt))).days
        #expect(days[2].text == "Sun 28 Dec 2025: 5k tokens" || days.contains { $0.text.hasSuffix("2025: 5k tokens") })
        #expect(days.last?.text == "Fri 18 Sep: 0 tokens, $0.00")
    }

    @Test("of some accounts, of a year that is over and without a year only the last 30 days are shown")
    func without() throws {
        var model = try SpendingTests.model()
        func spending(_ year: UsageYear?, _ providers: [ProviderState]) throws -> Spending {
            var data = model.data
            data.year = year
            return try #require(Spending(providers, ViewModel(data: data, now: model.now, zone: model.zone)))
        }
        let year = Self.year(at: model.now)
        #expect(try spending(year, model.providers).days.count > 300)
        #expect(try spending(year, model.providers.dropLast()).days.count == 30)
        #expect(try spending(year, model.providers.dropLast()).year == nil)
        #expect(try spending(nil, model.providers).days.count == 30)
        let old = Self.year(at: model.now.addingTimeInterval(-86_400 * 800))
        #expect(try spending(old, model.providers).year == nil)
        model = ViewModel(data: UsageData(link: .online, stored: .nothing), now: model.now, zone: model.zone)
        #expect(Spending([], model) == nil && !model.hasSpending)
        // Nothing in the last 30 days.
        var data = model.data
        data.year = year
        let rows = try #require(Spending([], ViewModel(data: data, now: model.now, zone: .gmt))).accounts.rows
        #expect(rows.map(\.name) == ["All accounts"] && rows[0].texts == ["$0.00", "$0.00", "$0.00"])
    }

    @Test("every width shows whole weeks, the last one always, and as many as there is room for")
    func widths() throws {
        var data = try SpendingTests.model().data
        let now = try SpendingTests.model().now
        data.year = Self.year(at: now)
        let usage = ViewModel(data: data, now: now, zone: .gmt)
        let model = LiveModel(LiveSample.data(data), now: now, zone: .gmt, options: .init())
        let days = try #require(Spending(usage.providers, usage)).days
        let monday = days[0].number
        let weeks = (days[days.count - 1].number - monday) / 7 + 1
        #expect(weeks == 53)
        for width in 20...200 {
            let lines = SpendingSection.detail(model, id: "all", width: width).map(\.plainText)
            #expect(lines.allSatisfy { CellWidth.of($0) <= width })
            let cells = max(1, min(3, (width - 6) / weeks))
            let count = min(weeks, (width - 6) / cells)
            for weekday in 0..<7 {
                let marks = (weeks - count..<weeks).map { week in
                    let index = 7 * week + weekday
                    let mark = index < days.count ? ["·", "░", "▒", "▓", "█"][days[index].level] : " "
                    return (cells == 3 ? " " : "") + String(repeating: mark, count: min(cells, 2))
                }
                let head = "  " + ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][weekday] + (cells == 3 ? "" : " ")
                let line = (head + marks.joined()).replacing(#/ +$/#, with: "")
                #expect(lines[2 + weekday] == line, "at \(width)")
            }
            let names = lines[1].split(separator: " ")
            #expect(
                Set(names).isSubset(of: Set(days.map { TimeFormatter.month(ofDay: $0.number)[...] })), "at \(width)")
            #expect(width < 60 || names.count >= 11)
        }
    }
}
