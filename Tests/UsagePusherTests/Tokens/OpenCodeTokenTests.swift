import Foundation
import LocalFiles
import Testing

@testable import SQLiteReading
@testable import UsagePusher

@Suite("Tokens of OpenCode", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct OpenCodeTokenTests {
    private static let database = ".local/share/opencode/opencode.db"
    private static let schema = """
        CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
        CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
        """
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    private static func message(
        _ id: String, input: Int, output: Int = 5, seconds: Int = 0, session: String = "s1"
    ) -> String {
        let created = 1_789_639_200_000 + 1_000 * seconds
        return """
            INSERT INTO message VALUES ('\(id)', '\(session)', \(created), \(created), '{"role":"assistant","modelID":"m",\
            "tokens":{"input":\(input),"output":\(output),"reasoning":0,"cache":{"read":0,"write":0}},"time":{"created":\(created)}}')
            ON CONFLICT (id) DO UPDATE SET data = excluded.data;
            """
    }

    private static func step(_ id: String, of message: String, input: Int) -> String {
        """
        INSERT INTO part VALUES ('\(id)', '\(message)', 's1', 1789639200000, 1789639200000, \
        '{"type":"step-finish","cost":0.5,"tokens":{"input":\(input),"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}');
        """
    }

    /// What the ledger knows after an update, with a cache from one update to the next.
    private func update(_ variables: [String: String] = [:]) -> [String] {
        var environment = home.environment(variables)
        environment.keepsCache = true
        return TokenLedger(logs: [OpenCodeTokens()], environment: environment)
            .update(in: environment, prices: .packaged).lines
            .map { $0.replacing(home.path, with: "~") }
    }

    @Test("after VACUUM, and after the newest rows were deleted, new rows are found and none counts twice")
    func renumbered() throws {
        let writer = try WrittenDatabase(home.writeDatabase(Self.database, Self.schema))
        for index in 0..<20 {
            try writer.execute(Self.message("m\(index)", input: 1, seconds: index))
        }
        _ = update()
        try writer.execute("DELETE FROM message WHERE _rowid_ < 15; VACUUM;")
        try writer.execute(Self.message("x", input: 100, seconds: 30))
        #expect(update() == ["2026-09-17T10:00:00Z s1, m: in 120, out 105, 21 requests"])
        try writer.execute("DELETE FROM message WHERE id = 'x';")
        try writer.execute(Self.message("y", input: 1_000, seconds: 31))
        #expect(update() == ["2026-09-17T10:00:00Z s1, m: in 1120, out 110, 22 requests"])
    }

    @Test("the environment may name another database, also within the directory")
    func variables() throws {
        let elsewhere = try home.writeDatabase("elsewhere/other.db", Self.schema + Self.message("a", input: 1))
        try home.writeDatabase(".local/share/opencode/named.db", Self.schema + Self.message("b", input: 2))
        try home.writeDatabase("data/opencode/opencode.db", Self.schema + Self.message("c", input: 3))
        #expect(update(["OPENCODE_DB": elsewhere]).first?.contains("in 1,") == true)
        #expect(update(["OPENCODE_DB": "named.db"]).first?.contains("in 2,") == true)
        #expect(update(["XDG_DATA_HOME": home.path("data")]).first?.contains("in 3,") == true)
        #expect(update(["OPENCODE_DB": ":memory:"]) == [])
    }

    @Test("the database of a new channel is read, and the cache of the others is still good")
    func newChannel() throws {
        let roots = OpenCodeTokens().roots(in: home.environment())
        let kilo = OpenCodeTokens.kilo.roots(in: home.environment())
        try home.writeDatabase(Self.database, Self.schema + Self.message("a", input: 1))
        #expect(update().count == 1)
        for path in [".local/share/opencode/opencode-beta.db", ".local/share/kilo/opencode-dev.db"] {
            try home.writeDatabase(path, Self.schema + Self.message("b", input: 2, seconds: 900))
        }
        #expect(update().count == 2)
        #expect(OpenCodeTokens().roots(in: home.environment()) == roots)
        #expect(OpenCodeTokens.kilo.roots(in: home.environment()) == kilo)
    }

    @Test("credentials and other files beside the databases are not read")
    func others() throws {
        try home.writeDatabase(Self.database, Self.schema + Self.message("a", input: 1))
        try home.write(".local/share/opencode/auth.json", "{")
        try home.write(".local/share/opencode/snapshot/opencode.db", "x")
        try home.write(".local/share/opencode/log/msg_1.json", "{")
        #expect(update() == ["2026-09-17T10:00:00Z s1, m: in 1, out 5"])
    }

    @Test(
        "a database of any name is read again when only the log beside it grows, and only then",
        arguments: ["own.sqlite", "own"])
    func anyName(_ name: String) throws {
        let variables = ["OPENCODE_DB": name]
        let path = ".local/share/opencode/" + name
        let writer = try WrittenDatabase(home.writeDatabase(path, "PRAGMA journal_mode = WAL;" + Self.schema))
        try writer.execute(Self.message("a", input: 1))
        #expect(update(variables).count == 1)
        let status = try FileStatus(path: home.path(path))
        try writer.execute(Self.message("b", input: 2, seconds: 900))
        #expect(try FileStatus(path: home.path(path)) == status)
        #expect(update(variables).count == 2)
        let cache = home.path(".local/state/ubiquity/tokens.cache")
        let kept = try #require(try FileStatus(path: cache))
        #expect(try update(variables).count == 2 && FileStatus(path: cache) == kept)
        for source in [OpenCodeSource(), OpenCodeGoSource()] as [any UsageSource] {
            let watched = source.watchedPaths(in: home.environment(variables)).map(\.path)
            #expect(watched.contains(home.path(path) + "-wal"))
        }
    }

    @Test("many rows are read in several passes of a small budget, each going on where the last one stopped")
    func passes() throws {
        let path = try home.writeDatabase(Self.database, Self.schema)
        let writer = try WrittenDatabase(path)
        try writer.execute("BEGIN")
        for index in 0..<3_000 {
            try writer.execute(Self.message("m\(index)", input: 1, seconds: index))
            try writer.execute(
                "INSERT INTO part VALUES ('t\(index)', 'm\(index)', 's1', 0, 0, '\(String(repeating: "z", count: 3_000))');"
            )
            try writer.execute(Self.step("p\(index)", of: "m\(index)", input: 2))
        }
        try writer.execute("COMMIT")
        var reader = OpenCodeDatabase(source: "opencode")
        let file = TokenFile(path: path, root: path)
        var limits = ScanLimits()
        limits.byteCount = 2_000_000
        var entries: [TokenEntry] = []
        var passCount = 0
        var isComplete = false
        while !isComplete, passCount < 100 {
            passCount += 1
            var budget = stillBudget(limits)
            var sink = TokenSink(file: file, index: 0, source: "opencode", names: TokenNames()) {
                entries += $0
            }
            isComplete = try reader.read(file, budget: &budget, into: &sink)
            sink.finish()
        }
        #expect(isComplete)
        #expect(passCount > 3)
        entries = TokenMerge.counted(entries)
        #expect(entries.count == 3_000)
        #expect(entries.allSatisfy { $0.counts.input == 2 && !$0.isSummary })
    }
}
