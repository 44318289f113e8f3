import ClockZones
import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Imports of machines whose logs are known")
struct LedgerImportWorldTests {
    /// Machines that use tools on random days, publish, and import random reports, with views of the store of random
    /// age.
    private struct World {
        var random: SeededGenerator
        private let names = ["b", "a", "c"]
        private let tools = ["claude", "codex"]
        private static let today = 20_785
        private var current: [[SessionDay.Key: SessionDay]] = [[:], [:], [:]]
        private var views: [[String: Data]] = [[:], [:], [:]]
        private var store: [String: Data] = [:]
        /// Tokens.
        private var logged: [LedgerDay: Int] = [:]
        private var imported: [LedgerDay: [Int]] = [:]

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func run() -> String? {
            for _ in 0..<20 + random.below(30) {
                let index = random.below(3)
                switch random.below(6) {
                case 0, 1: use(index)
                case 2: publish(index)
                case 3, 4: report(index)
                default: views[index] = store.merging(views[index].filter { isOwn($0.key, index) }) { $1 }
                }
            }
            for index in 0..<3 {
                views[index] = store.merging(views[index].filter { isOwn($0.key, index) }) { $1 }
                publish(index)
            }
            var expected = logged
            for (day, tokens) in imported where expected[day] == nil { expected[day] = tokens.max() }
            for index in 0..<3 {
                // A newer view is read, in any order.
                var ledger = LedgerUsage(LedgerPages(store), zone: .gmt)
                for tool in tools {
                    let usage = ledger.usage(for: .day, .init(device: { $0 }, project: { $0 }))
                    var query = ReportQuery(zone: .gmt)
                    query.providers = [tool]
                    let report = TokenReport(usage, by: .day, query: query)
                    let found = Dictionary(uniqueKeysWithValues: report.rows.map { ($0.period, $0.total.counts.total) })
                    let wanted = expected.filter { $0.key.source == tool }
                        .map { ("\(CalendarDay(number: $0.key.day))", $0.value) }
                    guard found == Dictionary(uniqueKeysWithValues: wanted) else {
                        return "\(names[index]), \(tool): \(found) in place of \(wanted)"
                    }
                    let days = expected.keys.filter { $0.source == tool && logged[$0] == nil }
                    if report.importedDays.count != days.count { return "\(report.importedDays) are marked" }
                }
                for grouping in [TokenReport.Grouping.month, .project, .model, .device] {
                    let usage = ledger.usage(for: grouping, .init(device: { $0 }, project: { $0 }))
                    let total = TokenReport(usage, by: grouping, query: ReportQuery(zone: .gmt)).total.counts.total
                    let wanted = expected.values.reduce(0, +)
                    if total != wanted { return "by \(grouping): \(total) in place of \(wanted)" }
                }
            }
            return nil
        }

        private func isOwn(_ key: String, _ index: Int) -> Bool { LedgerKey(key)?.device == names[index] }

        /// A day of any age, so that some months are sums.
        private mutating func day() -> LedgerDay {
            LedgerDay(
                day: Self.today - random.pick([0, 1, 2, 50, 51, 120, 121, 480, 481, 482]), source: random.pick(tools))
        }

        private mutating func use(_ index: Int) {
            let day = day()
            let key = SessionDay.Key(day: day.day, session: SessionDay.hash(random.next()))
            var entry = SessionDay(key: key, source: day.source, project: "p\(random.below(2))")
            entry.fingerprint = SessionDay.hash(random.next())
            var line = LedgerLine(slot: random.below(24), model: "m\(random.below(2))")
            line.amount.requestCount = 1
            line.amount.counts.output = 1 + random.below(1_000)
            entry.add(line)
            current[index][key] = entry
            logged[day, default: 0] += line.amount.counts.output
        }

        private mutating func publish(_ index: Int) {
            var publication = LedgerPublication(
                device: names[index], today: Self.today, zone: .gmt, stored: LedgerPages(views[index]))
            put(publication.changes(current[index]), index)
        }

        private mutating func report(_ index: Int) {
            var rows: [String] = []
            var sums: [LedgerDay: Int] = [:]
            for _ in 0...random.below(3) {
                let day = day()
                guard sums[day] == nil else { continue }
                let tokens = 1 + random.below(1_000)
                sums[day] = tokens
                rows.append(
                    #"{"period": "\#(CalendarDay(number: day.day))", "agent": "\#(day.source)", "outputTokens": \#(tokens)}"#
                )
            }
            for (day, tokens) in sums { imported[day, default: []].append(tokens) }
            let json = Data((#"{"daily": ["# + rows.joined(separator: ",") + "]}").utf8)
            guard let report = try? LedgerImportReader.read(json, today: Self.today, zone: .gmt) else { return }
            let targets = random.chance(3) ? [0, 1, 2] : [index]
            for index in targets {
                let plan = LedgerImportPlan(
                    [report], device: names[index], stored: LedgerPages(views[index]), zone: .gmt
                ) { _ in nil }
                put(plan.changes, index)
            }
        }

        private mutating func put(_ changes: [String: Data?], _ index: Int) {
            for (key, value) in changes {
                views[index][key] = value
                store[key] = value
            }
        }
    }

    @Test("each day of a tool counts from logs if any machine has some, and else from the largest import")
    func worlds() {
        for seed in 1...400 as ClosedRange<UInt64> {
            var world = World(seed: seed)
            guard let problem = world.run() else { continue }
            Issue.record("seed \(seed): \(problem)")
            return
        }
    }
}
