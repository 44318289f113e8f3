import ClockZones
import Foundation
import StoreTestSupport
import Testing

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
        var stored: [LedgerKey: [UInt8]] = [:]
        var expected = 0
        for device in 0..<3 {
            let days = (today - 5 * 365)...today
            var current: [SessionDay.Key: SessionDay] = [:]
            for entry in days.flatMap({ user.sessionDays(on: $0, of: device) }) { current[entry.key] = entry }
            expected += current.values.reduce(0) { $0 + $1.amount.requestCount }
            // As the pusher does when the store is full.
            let written = LedgerAges.all.lazy.map { ages in
                LedgerPublication(
                    device: "0000000\(device)-0000-4000-8000-000000000000", today: today, zone: .gmt, stored: [:],
                    ages: ages
                ).changes(current).compactMapValues(\.self)
            }.first { changes in
                changes.reduce(0) { $0 + $1.key.name.utf8.count + $1.value.count } < 330_000
            }
            stored.merge(written ?? [:]) { $1 }
        }
        let byteCount = stored.reduce(0) { $0 + $1.key.name.utf8.count + $1.value.count }
        #expect(byteCount < 1_000_000 && stored.count < 1_000, "\(byteCount) bytes in \(stored.count) keys")
        var ledger = LedgerUsage(stored, zone: .gmt)
        for grouping in [TokenReport.Grouping.day, .project, .model] {
            let usage = ledger.usage(for: grouping, .init(device: { $0 }, project: { $0 }))
            #expect(usage.requestCount == expected)
        }
    }

    @Test("a page is read as it was written, and bytes of anything else are refused without harm")
    func bytes() throws {
        var user = HeavyUser()
        var page = LedgerPage(start: 20_700)
        page.sessionDays = user.sessionDays(on: 20_700, of: 0).sorted { $0.key < $1.key }
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
        #expect(LedgerProjects.name(ofKey: app, projects.names) == "owner/app")
        let plain = try #require(key(root + "/home/plain"))
        #expect(plain != app && LedgerProjects.name(ofKey: plain, projects.names) == "~/plain")
        #expect(LedgerProjects.name(ofKey: plain, [:]) == "#" + plain.prefix(8))
    }
}
