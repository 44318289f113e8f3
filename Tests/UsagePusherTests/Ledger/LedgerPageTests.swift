import ClockZones
import Foundation
import StoreTestSupport
import Testing
import UsageState

@testable import UsagePusher

@Suite("Pages of the ledger")
struct LedgerPageTests {
    /// What someone uses who works a lot: 50 sessions a day on three machines, 12 models, 40 projects.
    private struct HeavyUser {
        var random = SeededGenerator(seed: 1)

        /// A number below a limit; each is half as frequent as that of half its size.
        mutating func often(_ limit: Int) -> Int {
            Int(pow(Double(limit), Double(random.below(10_000)) / 10_000)) - 1
        }

        mutating func sessionDays(on day: Int, of device: Int) -> [SessionDay] {
            (0..<17).map { number in
                let key = SessionDay.Key(day: day, session: SessionDay.hash(random.next()))
                var entry = SessionDay(
                    key: key, source: ["claude", "codex", "gemini"][often(3)],
                    project: "0123456789\(10 + often(40))")
                entry.fingerprint = SessionDay.hash(random.next())
                let model = "model-\(often(12))"
                let start = random.below(22)
                for hour in start...start + random.below(3) {
                    var line = LedgerLine(slot: hour, model: random.chance(5) ? "model-0" : model)
                    line.amount.requestCount = 1 + random.below(60)
                    line.amount.counts = TokenCounts(
                        input: random.below(90_000), output: random.below(60_000), reasoning: random.below(9_000),
                        cacheRead: random.below(9_000_000), cacheWrite5m: random.below(400_000))
                    line.amount.cost = CostSums(ledgerWords: [random.below(9_000_000_000), 0, 0, 0, 0, 0, 0])
                    entry.add(line)
                }
                return entry
            }
        }
    }

    @Test("five years of a heavy user with three machines have room in a store of 1 MB")
    func size() {
        var user = HeavyUser()
        let today = 20_785
        var stored: [String: Data] = [:]
        var expected = 0
        for device in 0..<3 {
            let days = (today - 5 * 365)...today
            var current: [SessionDay.Key: SessionDay] = [:]
            for entry in days.flatMap({ user.sessionDays(on: $0, of: device) }) { current[entry.key] = entry }
            expected += current.values.reduce(0) { $0 + $1.amount.requestCount }
            // As the pusher does when the store is full.
            let written = LedgerAges.all.lazy.map { ages in
                var publication = LedgerPublication(
                    device: "0000000\(device)-0000-4000-8000-000000000000", today: today, zone: .gmt,
                    stored: LedgerPages([:]))
                publication.ages = ages
                return publication.changes(current).compactMapValues(\.self)
            }.first { changes in
                changes.reduce(0) { $0 + $1.key.utf8.count + $1.value.count } < 330_000
            }
            stored.merge(written ?? [:]) { $1 }
        }
        let byteCount = stored.reduce(0) { $0 + $1.key.utf8.count + $1.value.count }
        #expect(byteCount < 1_000_000 && stored.count < 1_000, "\(byteCount) bytes in \(stored.count) keys")
        var ledger = LedgerUsage(LedgerPages(stored), zone: .gmt)
        for grouping in [TokenReport.Grouping.day, .project, .model] {
            let usage = ledger.usage(for: grouping, .init(device: { $0 }, project: { $0 }))
            #expect(usage.requestCount == expected)
        }
    }

    @Test("a page is read as it was written, and bytes of anything else are refused without harm")
    func bytes() throws {
        var user = HeavyUser()
        var page = LedgerPage(start: 20_700, .hours, user.sessionDays(on: 20_700, of: 0))
        page.sessionDays[0].requests = [LedgerRequest(id: 7, line: page.sessionDays[0].lines[0])]
        page.cells = [LedgerCell(day: 20_700, source: "claude", project: nil, line: LedgerLine(slot: 0, model: "m"))]
        (page.projects, page.days) = (page.cells, page.cells)
        page.claims = [3, 1 << 41, 9]
        let bytes = page.bytes
        #expect(try LedgerPage(bytes, start: 20_700) == page)
        var random = SeededGenerator(seed: 2)
        for _ in 0..<2_000 {
            var damaged = bytes
            for _ in 0...random.below(3) { damaged[2 + random.below(damaged.count - 2)] ^= 1 << UInt8(random.below(8)) }
            if damaged != bytes { #expect(throws: LedgerPage.Failure.self) { try LedgerPage(damaged, start: 20_700) } }
            // With a checksum that is right.
            let rest = damaged[6...]
            let checksum = Array(rest).withUnsafeBytes(ContentHash.of)
            for index in 0..<4 { damaged[2 + index] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * index)) }
            _ = try? LedgerPage(damaged, start: 20_700)
        }
        var newer = bytes
        newer[0] = 2
        #expect(throws: LedgerPage.Failure.newer) { try LedgerPage(newer, start: 20_700) }
        for count in 0..<min(bytes.count, 200) {
            #expect(throws: LedgerPage.Failure.self) { try LedgerPage(Array(bytes.prefix(count)), start: 0) }
        }
    }

    @Test("what no reader could read is not written, and named")
    func unreadable() throws {
        let today = 20_785
        var user = HeavyUser()
        var stored: [String: Data] = [:]
        for (factor, age) in [(1, 0), (1 << 40, 0), (1, 70), (1 << 40, 70)] {
            var entry = user.sessionDays(on: today - age, of: 0)[0]
            entry.lines[0].amount.counts.input = 20_000 * factor
            var publication = LedgerPublication(
                device: "a", today: today, zone: .gmt, stored: LedgerPages(stored))
            let changes = publication.changes([entry.key: entry])
            #expect(changes.isEmpty == (factor > 1) && publication.issues.count == (factor > 1 ? 1 : 0))
            for (key, value) in changes { stored[key] = value }
        }
        #expect(stored.count == 2 && LedgerPages(stored).failures.isEmpty)
    }

    @Test("whatever a page of another machine has, no program ends by it")
    func hostilePages() {
        var user = HeavyUser()
        var (failureCount, random) = (0, SeededGenerator(seed: 3))
        let today = 20_785
        for number in 0..<1_500 {
            let isMonth = number.isMultiple(of: 2)
            let start = isMonth ? CalendarDay(number: today - 85).startOfMonth.number : today
            var page = LedgerPage(
                start: start, isMonth ? [.days, .projects, .months, .closed][random.below(4)] : .hours,
                Array(user.sessionDays(on: start, of: 0).prefix(2)))
            page.cells = [LedgerCell(day: start, source: "x", project: "p", line: LedgerLine(slot: 0, model: "m"))]
            (page.projects, page.days, page.claims) = (page.cells, page.cells, [1, 1 << 40])
            let name = LedgerKey(device: "other", day: start, isMonth: isMonth).name
            let pages = LedgerPages([name: Data(Self.changed(page.bytes, &random))])
            failureCount += pages.failures.count
            for zone in [ClockZone.gmt, .fixed(secondsFromGMT: -12_600), .fixed(secondsFromGMT: 50_400)] {
                var ledger = LedgerUsage(pages, zone: zone)
                for grouping in [TokenReport.Grouping.day, .week(start: .monday), .year, .project, .session] {
                    let usage = ledger.usage(for: grouping, .init(device: { $0 }, project: { $0 }))
                    let report = TokenReport(usage, by: grouping, query: ReportQuery(zone: zone))
                    let table = ReportTable(
                        report: report, grouping: grouping, format: ReportFormat(), clock: ReportClock(zone: zone))
                    #expect(!table.lines(width: 80).isEmpty)
                }
                let own = user.sessionDays(on: start, of: 1)
                var publication = LedgerPublication(device: "own", today: today, zone: zone, stored: pages)
                publication.ages = LedgerAges.all[random.below(LedgerAges.all.count)]
                _ = publication.changes(Dictionary(own.map { ($0.key, $0) }) { $1 })
                let now = Date(timeIntervalSince1970: Double(start) * 86_400 + 100_000)
                let budgets = [Budget.Unit.dollars, .tokens].map { Budget(1, $0, per: .month) }
                #expect(
                    BudgetState.states(of: budgets, pages, ProjectRules(), now: now).allSatisfy { !$0.text.isEmpty })
                #expect(UsageYear(stored: UsageYear(pages, at: now).data) != nil)
            }
        }
        // A forecast is many times of what may be that large.
        #expect(Budget.Unit.tokens.text(1e300, of: 1e15) == "1000000000G of 1000000G tokens")
        // Neither all nor none.
        #expect((150..<1_450).contains(failureCount), "\(failureCount)")
    }

    /// With some numbers that are the largest or the least ones, and a checksum that is right.
    private static func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(3) {
            let place = 6 + random.below(bytes.count - 6)
            let number: [UInt8] = random.pick([
                Array(repeating: 0xFF, count: 9) + [1], Array(repeating: 0xFF, count: 8) + [0x7F],
                Array(repeating: 0x80, count: 9) + [1], [UInt8(random.below(256))],
            ])
            bytes.replaceSubrange(place..<min(bytes.count, place + random.pick([1, number.count])), with: number)
        }
        let checksum = bytes[6...].withUnsafeBytes(ContentHash.of)
        for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * index)) }
        return bytes
    }

    @Test(
        "a project is its repository, however that is reached, and tells no secrets",
        arguments: [
            ("git@github.com:owner/app.git", "github.com/owner/app"),
            ("https://user:secret@GitHub.com/owner/app.git", "github.com/owner/app"),
            ("ssh://git@github.com:22/owner/app/", "github.com/owner/app"),
            ("https://example.com/a/b/c?token=secret", "example.com/a/b/c"),
            ("app", nil), ("", nil),
        ] as [(String, String?)])
    func remote(_ address: String, _ identity: String?) {
        #expect(LedgerProjects.normalized(address) == identity)
    }

    @Test("worktrees and directories of a repository are one project, and Claude Code's names are found")
    func projects() throws {
        let directory = try TemporaryDirectory()
        let root = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path
        func write(_ path: String, _ text: String) throws {
            let url = URL(fileURLWithPath: root + "/" + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        try write("my-app/.git/config", "[core]\n[remote \"origin\"]\n  url = https://example.com/owner/app\n")
        try write("my-app/Sources/x", "")
        try write("my-app/.git/worktrees/w/commondir", "../..\n")
        try write("tree/.git", "gitdir: \(root)/my-app/.git/worktrees/w\n")
        try write("home/plain/x", "")
        var projects = LedgerProjects(home: root + "/home", disclosure: .hashed)
        func key(_ project: String) -> String? {
            projects.key(of: TokenSession(id: "s", project: project, source: "claude"))
        }
        let app = try #require(key(root + "/my-app"))
        #expect(key(root + "/my-app/Sources") == app && key(root + "/tree") == app)
        let encoded = String(root.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }) + "-my-app"
        #expect(key(encoded) == app)
        let names = { ProjectNames(ProjectRules(), known: projects.found) }
        #expect(names().name(ofKey: app) == "owner/app")
        let plain = try #require(key(root + "/home/plain"))
        #expect(plain != app && names().name(ofKey: plain) == "~/plain")
        #expect(ProjectNames(ProjectRules(), known: [:]).name(ofKey: plain) == "#" + plain.prefix(8))

        let places = [root + "/my-app/Sources", root + "/tree", encoded, root + "/home/plain"]
        let before = places.map { key($0) }
        let known = projects.found
        for name in ["my-app", "tree", "home"] { try FileManager.default.removeItem(atPath: root + "/" + name) }
        projects = LedgerProjects(home: root + "/home", disclosure: .hashed, known: known)
        #expect(places.map { key($0) } == before, "of a project whose directory is gone")
        #expect(names().name(ofKey: app) == "owner/app" && names().name(ofKey: plain) == "~/plain")
        projects = LedgerProjects(home: root + "/home", disclosure: .named, known: known)
        #expect(key(root + "/tree") == app + " owner/app")
        try write("tree/x", "")
        #expect(key(root + "/tree/x") != app, "of another directory")
    }
}
