import Foundation
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

@testable import UsagePusher

@Suite("What is spent of budgets")
struct BudgetStateTests {
    private static let zones = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Pacific/Chatham"]

    private static func calendar(_ zone: String) throws -> Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        return calendar
    }

    private static func component(_ period: Budget.Period) -> Calendar.Component {
        switch period {
        case .day: .day
        case .week: .weekOfYear
        case .month: .month
        }
    }

    /// The hours of some sessions on random machines around a time.
    private struct World {
        struct Use {
            var hour: Int
            var source: String
            var project: String
            var tokens: Int
            var nanodollars: Int
        }

        var uses: [Use] = []
        var pages: [String: Data] = [:]

        init(_ random: inout SeededGenerator, at now: Date) {
            let today = Int(now.timeIntervalSince1970) / 86_400
            var entries: [String: [Int: [SessionDay]]] = [:]
            for number in 0..<40 {
                let day = today - random.below(40)
                var entry = SessionDay(
                    key: .init(day: day, session: UInt64(number)), source: ["claude", "codex"][random.below(2)],
                    project: ["aaaaaaaaaaaa", "bbbbbbbbbbbb owner/app"][random.below(2)])
                entry.fingerprint = UInt64(number)
                for _ in 0...random.below(3) {
                    let use = Use(
                        hour: day * 24 + random.below(24), source: entry.source,
                        project: LedgerProjects.hash(ofKey: entry.project ?? ""), tokens: random.below(1_000_000),
                        nanodollars: random.below(1_000_000_000))
                    uses.append(use)
                    var line = LedgerLine(slot: use.hour % 24, model: "m")
                    line.amount.requestCount = 1
                    line.amount.counts = TokenCounts(input: use.tokens)
                    line.amount.cost = CostSums(ledgerWords: [use.nanodollars, 0, 0, 0, 0, 0, 0])
                    entry.add(line)
                }
                // A copied session is on two machines.
                for device in Set([random.below(3), random.below(3)]) {
                    entries["d\(device)", default: [:]][day, default: []].append(entry)
                }
            }
            for (device, days) in entries {
                for (day, entries) in days {
                    pages[LedgerKey(device: device, day: day).name] = Data(
                        LedgerPage(start: day, .hours, entries).bytes)
                }
            }
        }
    }

    @Test("a budget counts what all machines used in the day, week or month of its zone, each request once")
    func sums() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<60 {
            // Changes of clocks are in these years.
            let now = Date(timeIntervalSince1970: Double(1_700_000_000 + random.below(60_000_000)))
            let world = World(&random, at: now)
            let first = BudgetState.firstDay(at: now)
            let needed = LedgerPages(
                world.pages.filter { LedgerKey($0.key)?.concerns(daysFrom: first) ?? false })
            for period in Budget.Period.allCases {
                for unit in [Budget.Unit.dollars, .tokens] {
                    var budget = Budget(10, unit, per: period)
                    budget.zone = Self.zones[random.below(Self.zones.count)]
                    budget.provider = [nil, "claude"][random.below(2)]
                    budget.project = [nil, "bbbbbbbbbbbb"][random.below(2)]
                    let state = BudgetState.states(of: [budget], needed, ProjectRules(), now: now)[0]
                    let calendar = try Self.calendar(budget.zone ?? "")
                    let interval = try #require(calendar.dateInterval(of: Self.component(period), for: now))
                    #expect(state.span == interval.start..<interval.end)
                    // Hours that begin in it: no hour of UTC is split, except in zones with quarters of hours.
                    let counted = world.uses.filter { use in
                        interval.start <= Date(timeIntervalSince1970: Double(use.hour * 3_600))
                            && Date(timeIntervalSince1970: Double(use.hour * 3_600)) < interval.end
                            && use.source == budget.provider ?? use.source
                            && use.project == budget.project ?? use.project
                    }
                    let expected =
                        unit == .tokens
                        ? Double(counted.reduce(0) { $0 + $1.tokens })
                        : Double(counted.reduce(0) { $0 + $1.nanodollars }) / 1e9
                    #expect(abs(state.spent - expected) < 1e-6, "\(budget) at \(now)")
                    let days = Set(
                        counted.map { calendar.startOfDay(for: Date(timeIntervalSince1970: Double($0.hour * 3_600))) })
                    #expect(state.usedDayCount == days.count)
                    #expect((state.forecast == nil) == (period == .day || days.count < 2))
                    if let forecast = state.forecast { #expect(forecast >= state.spent) }
                }
            }
        }
    }

    @Test("budgets with one title are windows of one card, and a removed budget's card is not shown")
    func cards() throws {
        let now = Date(timeIntervalSince1970: 1_790_000_000)
        let budgets = [Budget(10, per: .month), Budget(3, per: .week), Budget(1e6, .tokens, per: .month)]
        let states = BudgetState.states(of: budgets, LedgerPages([:]), ProjectRules(), now: now)
        let cards = BudgetState.cards(states, observedAt: now)
        #expect(cards.map(\.accountEmail) == ["all tools"])
        #expect(cards[0].rateWindows?.map(\.label) == ["Weekly", "Monthly", "Monthly tokens"])
        #expect(cards[0].statusMessage?.hasPrefix("$0.00 of $3.00 this week. $0.00 of $10.00 this month") == true)

        let snapshot = SyncedUsageSnapshot(providers: cards, syncTimestamp: now, deviceName: "laptop", deviceID: "d1")
        var values = [SyncedUsageSnapshot.storeKey + ".d1": try SnapshotCodec.encode(snapshot)]
        for budget in budgets { values[budget.storeKey] = budget.data }
        #expect(UsageData(link: .online, values: values, now: now).usage?.providers.count == 1)
        for budget in budgets { values[budget.storeKey] = nil }
        #expect(UsageData(link: .online, values: values, now: now).usage?.providers.isEmpty == true)
    }

    @Test(
        "what is no budget is left out",
        arguments: [
            "", "{}", "[]", #"{"amount":0,"per":"month"}"#, #"{"amount":-5,"per":"month"}"#,
            #"{"amount":1e300,"per":"month"}"#, #"{"amount":5,"per":"year"}"#,
            #"{"amount":5,"per":"month","name":""}"#, #"{"amount":5,"per":"month","name":"a\u001b[2Jb"}"#,
            #"{"amount":5,"per":"month","project":"\#(String(repeating: "x", count: 81))"}"#,
        ])
    func invalid(text: String) {
        let valid = Budget(5, per: .month)
        let values = [valid.storeKey: valid.data, valid.storeKey + "x": Data(text.utf8)]
        #expect(Budget.all(in: values) == [valid])
    }
}
