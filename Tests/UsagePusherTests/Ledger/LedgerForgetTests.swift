import ClockZones
import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Past usage that is forgotten")
struct LedgerForgetTests {
    private static let today = 20_785
    private static var names: LedgerUsage.Names { .init(device: { $0 }, project: { $0 }) }

    /// Machines that use tools, copy sessions, publish with views of random age, and forget something at some time.
    private struct World {
        private struct Session {
            var entry: SessionDay
            var machine: Int
        }

        var random: SeededGenerator
        private let machines = ["b", "a", "c"]
        private var sessions: [Session] = []
        private var current: [[SessionDay.Key: SessionDay]] = [[:], [:], [:]]
        private var views: [[String: Data]] = [[:], [:], [:]]
        private var store: [String: Data] = [:]
        private var rules: [ForgetRule] = []

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func run() -> String? {
            for _ in 0..<30 + random.below(30) {
                let index = random.below(3)
                switch random.below(8) {
                case 0...2: use(index)
                case 3, 4: publish(index)
                case 5, 6: receive(index)
                default: if rules.count < 3 { forget() }
                }
            }
            // Often enough that each has published with the newest view.
            for _ in 0..<20 { for index in 0..<3 { publish(index) } }
            for (text, rules) in [("read", self.rules), ("stored", [])] {
                var pages = LedgerPages(store)
                pages.rules = rules
                for (grouping, name) in groupings {
                    let found = sums(pages, grouping)
                    let wanted = expected(name)
                    if found != wanted {
                        return "\(text) by \(grouping): \(found) in place of \(wanted), \(self.rules)"
                    }
                }
            }
            return nil
        }

        private let groupings: [(TokenReport.Grouping, (SessionDay) -> String)] = [
            (.day, { "\(CalendarDay(number: $0.key.day))" }), (.project, { $0.project ?? "" }),
            (.model, { $0.lines[0].model ?? "" }),
        ]

        private func sums(_ pages: LedgerPages, _ grouping: TokenReport.Grouping) -> [String: Int] {
            var ledger = LedgerUsage(pages, zone: .gmt)
            let usage = ledger.usage(for: grouping, LedgerForgetTests.names)
            let report = TokenReport(usage, by: grouping, query: ReportQuery(zone: .gmt))
            return Dictionary(uniqueKeysWithValues: report.rows.map { ($0.period, $0.total.counts.total) })
        }

        /// A session counts once if a machine has a copy that no rule covers.
        private func expected(_ name: (SessionDay) -> String) -> [String: Int] {
            Dictionary(grouping: sessions, by: \.entry.key).values.reduce(into: [:]) { sums, copies in
                let kept = copies.filter { copy in
                    !rules.contains { rule in
                        rule.covers(
                            copy.entry.key.day...copy.entry.key.day, device: machines[copy.machine],
                            project: copy.entry.project)
                    }
                }
                guard let entry = kept.first?.entry else { return }
                sums[name(entry), default: 0] += entry.amount.counts.total
            }
        }

        /// As old as a month can be that states days by project and model.
        private mutating func use(_ index: Int) {
            let day = LedgerForgetTests.today - random.pick([0, 1, 2, 50, 51, 120, 121])
            let key = SessionDay.Key(day: day, session: SessionDay.hash(random.next()))
            var entry = SessionDay(
                key: key, source: "claude", project: random.pick([Self.projects[0], Self.projects[1]]))
            entry.fingerprint = SessionDay.hash(random.next())
            var line = LedgerLine(slot: random.below(24), model: "m\(random.below(2))")
            line.amount.requestCount = 1
            line.amount.counts.output = 1 + random.below(1_000)
            entry.add(line)
            for machine in Set([index, random.chance(4) ? random.below(3) : index]) {
                current[machine][key] = entry
                sessions.append(Session(entry: entry, machine: machine))
            }
        }

        private static let projects = ["0123456789ab", "ba9876543210"]

        private mutating func forget() {
            let first = random.chance(2) ? LedgerForgetTests.today - random.pick([121, 60, 1]) : nil
            rules.append(
                ForgetRule(
                    project: random.chance(2) ? random.pick(Self.projects) : nil, device: nil, first: first,
                    last: LedgerForgetTests.today - random.pick([0, 1, 50, 120]), stated: rules.count))
            // The rules of all machines are known where they synchronize.
            for rule in rules { store[rule.key] = rule.value }
        }

        private mutating func receive(_ index: Int) {
            let isOwn = { [name = machines[index]] (key: String) in LedgerKey(key)?.device == name }
            views[index] = store.filter { !isOwn($0.key) }.merging(views[index].filter { isOwn($0.key) }) { $1 }
        }

        private mutating func publish(_ index: Int) {
            let isCurrent = random.chance(2)
            if isCurrent { receive(index) }
            var publication = LedgerPublication(
                device: machines[index], today: LedgerForgetTests.today, zone: .gmt, isCurrent: isCurrent,
                stored: LedgerPages(views[index]))
            let changes = publication.changes(current[index])
            for (key, value) in changes {
                views[index][key] = value
                store[key] = value
            }
        }
    }

    @Test("what a rule covers neither counts nor is stored once all have pushed, and all else stays")
    func worlds() {
        for seed in 1...300 as ClosedRange<UInt64> {
            var world = World(seed: seed)
            guard let problem = world.run() else { continue }
            Issue.record("seed \(seed): \(problem)")
            return
        }
    }

    /// A session of a thousand tokens on a day.
    private static func session(_ day: Int, _ project: String, _ id: UInt64) -> SessionDay {
        var entry = SessionDay(
            key: .init(day: day, session: SessionDay.hash(id << 20)), source: "claude", project: project)
        entry.fingerprint = id
        var line = LedgerLine(slot: 9, model: "m")
        line.amount.requestCount = 1
        line.amount.counts.output = 1_000
        entry.add(line)
        return entry
    }

    private static func publish(
        _ sessions: [SessionDay], _ device: String, _ store: inout [String: Data], today: Int = today
    ) {
        var publication = LedgerPublication(device: device, today: today, zone: .gmt, stored: LedgerPages(store))
        let changes = publication.changes(Dictionary(uniqueKeysWithValues: sessions.map { ($0.key, $0) }))
        for (key, value) in changes { store[key] = value }
    }

    private static func tokens(_ pages: LedgerPages, _ grouping: TokenReport.Grouping) -> Int {
        var ledger = LedgerUsage(pages, zone: .gmt)
        return TokenReport(ledger.usage(for: grouping, names), by: grouping, query: ReportQuery(zone: .gmt))
            .total.counts.total
    }

    @Test("of a machine that is forgotten what another one has a copy of counts there")
    func machine() {
        var store: [String: Data] = [:]
        let sessions = [Self.session(Self.today - 120, "0123456789ab", 1), Self.session(Self.today, "0123456789ab", 2)]
        let rule = ForgetRule(project: nil, device: "a", first: nil, last: Self.today, stated: 0)
        Self.publish(sessions, "a", &store, today: Self.today - 60)
        Self.publish([sessions[0]], "b", &store, today: Self.today - 60)
        store[rule.key] = rule.value
        let known = store
        // As sums, in any order.
        for order in [["a", "b"], ["b", "a"], ["a", "a", "b"], ["b", "b", "a"]] {
            var store = known
            for device in order + order { Self.publish(device == "a" ? sessions : [sessions[0]], device, &store) }
            #expect(Self.tokens(LedgerPages(store), .day) == 1_000, "\(order)")
        }
    }

    @Test("what months state as sums stays in part, and is said")
    func sums() {
        var store: [String: Data] = [:]
        let day = CalendarDay("2025-03-10")!.number
        let (mine, other) = ("0123456789ab", "ba9876543210")
        Self.publish(
            [Self.session(day, mine, 1), Self.session(day, other, 2), Self.session(Self.today, mine, 3)], "a", &store)
        let rule = ForgetRule(project: mine, device: nil, first: nil, last: Self.today, stated: 0)
        let preview = ForgetPreview([rule], of: LedgerPages(store), zone: .gmt)
        #expect(preview.tokens == 2_000 && preview.days.map(\.number) == [Self.today])
        #expect(preview.rest.map(\.totals) == ["day", "model"] && preview.rest.allSatisfy { $0.tokens == 1_000 })
        store[rule.key] = rule.value
        #expect(Self.tokens(LedgerPages(store), .project) == 1_000)
        #expect(Self.tokens(LedgerPages(store), .day) == 2_000)

        let days = ForgetRule(project: nil, device: nil, first: day, last: day, stated: 0)
        let partial = ForgetPreview([days], of: LedgerPages(store), zone: .gmt)
        #expect(partial.tokens == 2_000 && partial.rest.map(\.totals) == ["project", "model"])
        let month = ForgetRule(project: nil, device: nil, first: day - 9, last: day + 21, stated: 0)
        let whole = ForgetPreview([month], of: LedgerPages(store), zone: .gmt)
        #expect(whole.tokens == 2_000 && whole.rest.map(\.totals) == ["project"])
    }

    @Test("no import counts in place of logs that are forgotten")
    func imports() throws {
        var store: [String: Data] = [:]
        Self.publish([Self.session(Self.today - 60, "0123456789ab", 1)], "a", &store)
        let day = CalendarDay(number: Self.today - 60)
        let report = try LedgerImportReader.read(
            Data(#"{"daily": [{"period": "\#(day)", "agent": "claude", "inputTokens": 5}]}"#.utf8), today: Self.today,
            zone: .gmt)
        let plan = LedgerImportPlan([report], device: "b", stored: LedgerPages([:]), zone: .gmt) { _ in nil }
        for (key, value) in plan.changes { store[key] = value }
        let rule = ForgetRule(project: "0123456789ab", device: nil, first: nil, last: Self.today, stated: 0)
        store[rule.key] = rule.value
        #expect(Self.tokens(LedgerPages(store), .day) == 0)
        // The page of a machine that pushes no more is rewritten by another one.
        let changes = LedgerPages(store).changes(forgettingOf: ["a"], zone: .gmt)
        #expect(changes.count == 1)
        for (key, value) in changes { store[key] = value }
        #expect(Self.tokens(LedgerPages(store), .day) == 0)
        #expect(LedgerPages(store).changes(forgettingOf: ["a"], zone: .gmt).isEmpty)
        store[rule.key] = nil
        #expect(Self.tokens(LedgerPages(store), .day) == 0)

        // An import of what is forgotten is left out, too.
        let all = ForgetRule(project: nil, device: nil, first: nil, last: Self.today, stated: 0)
        let later = LedgerImportPlan(
            [report], device: "c", stored: LedgerPages([all.key: all.value]), zone: .gmt
        ) { _ in nil }
        #expect(later.changes.isEmpty && later.forgotten.days.count == 1)
    }

    @Test("whatever is stored as a rule, it is one or nothing")
    func hostileRules() {
        let rule = ForgetRule(project: "0123456789ab", device: "a", first: 20_000, last: 20_001, stated: 7)
        #expect(ForgetRule.rules(in: [rule.key: rule.value]) == [rule])
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "{", "}", "[", "\"last\":", "9e99", "-1", "20001", "null", "\"first\":20000,", "\"stated\":1", ",",
        ]
        for _ in 0..<2_000 {
            let text = (0...random.below(9)).map { _ in random.pick(pieces) }.joined()
            #expect(ForgetRule.rules(in: [rule.key: Data(text.utf8)]).isEmpty)
        }
        let days = [Int.min, -1, 0, Int.max]
        for first in days {
            for last in days {
                let rule = ForgetRule(project: nil, device: nil, first: first, last: last, stated: .max)
                var store = [rule.key: rule.value]
                Self.publish([Self.session(Self.today, "p", 1)], "a", &store)
                #expect(Self.tokens(LedgerPages(store), .day) == 1_000)
            }
        }
        let many = (0..<100).map { ForgetRule(project: nil, device: "\($0)", first: nil, last: 1, stated: $0) }
        let stored = Dictionary(uniqueKeysWithValues: many.map { ($0.key, $0.value) })
        #expect(ForgetRule.rules(in: stored) == Array(many.prefix(ForgetRule.countLimit)))
    }
}
