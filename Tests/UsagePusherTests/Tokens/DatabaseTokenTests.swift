import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// Databases that change between two updates, of the tools beside OpenCode.
@Suite("Tokens in databases", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct DatabaseTokenTests {
    /// A copy of a fixture's database whose tool goes on writing, without checkpoints.
    private final class Tool {
        let home: TokenHome
        let writer: WrittenDatabase

        init(_ fixture: String, _ database: String, _ log: any TokenLog) throws {
            home = try TokenHome(copying: fixture, logs: [log])
            writer = try WrittenDatabase(home.home.path(database), "PRAGMA journal_mode = WAL;")
        }

        var lines: [String] { home.usage().lines }
    }

    @Test("rows with a text that is too long are counted as left out")
    func tooLong() throws {
        let copilot = try Tool("copilot/usual", ".copilot/session-store.db", CopilotTokens())
        try copilot.writer.execute(
            """
            INSERT INTO assistant_usage_events (session_id, model, input_tokens, output_tokens, created_at)
            VALUES ('s9', printf('%.300000c', 'm'), 10, 1, '2026-09-17T12:00:00Z');
            """)
        #expect(copilot.home.usage().leftOut.map(\.count) == [1])
        let goose = try Tool("goose/usual", ".local/share/goose/sessions/sessions.db", GooseTokens())
        let before = goose.home.usage().leftOut.map(\.count)
        try goose.writer.execute(
            """
            INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens)
            VALUES ('20260601_2', 1789700000, printf('%.300000c', 'm'), 30, 3);
            """)
        #expect(goose.home.usage().leftOut.reduce(0) { $0 + $1.count } == before.reduce(0, +) + 1)
    }

    @Test("an editor that is writing is said to be writing, and has the state that was read before")
    func editorInUse() throws {
        let home = try SampleHome(copying: "cursor/sample")
        let database = try #require(
            CursorSource().watchedPaths(in: home.environment()).map(\.path).first {
                $0.hasSuffix(".vscdb") && (try? FileStatus(path: $0)) != nil
            })
        let journal = String(database.dropFirst(home.path.count + 1)) + "-journal"
        try home.write(journal, "x")
        var source = CursorSource()
        let first = source.read(home)
        #expect(first.isPartial)
        #expect(first.findings.map(\.detail).first?.contains("its tool is writing it") == true)
        try home.remove(journal)
        let card = source.read(home).provider
        #expect(card != nil && card?.statusMessage == nil)
        try home.write(journal, "x")
        var later = source.read(home).provider
        #expect(later?.statusMessage?.contains("not all files have been read") == true)
        later?.statusMessage = nil
        #expect(later == card)
    }

    @Test("Zed: a thread counts once, with the largest of what it says that it has used, at its last change")
    func zed() throws {
        let tool = try Tool("zed/macos", "Library/Application Support/Zed/threads/threads.db", ZedTokens())
        #expect(tool.lines == ["2026-09-17T10:00:05Z a, claude-sonnet-4-6: in 100, read 4000, out 50, coarse"])
        try tool.writer.execute(
            """
            UPDATE threads SET updated_at = '2026-09-18T10:00:05Z',
            data = '{"cumulative_token_usage":{"input_tokens":9000,"output_tokens":70},"model":{"model":"gpt-5"}}';
            INSERT INTO threads VALUES ('b', 't', '2026-09-18T09:00:00Z', 'json',
            '{"cumulative_token_usage":{"input_tokens":5000,"output_tokens":1}}');
            """)
        #expect(
            tool.lines == [
                "2026-09-18T09:00:00Z b, no model: in 5000, out 1, coarse",
                "2026-09-18T10:00:05Z a, gpt-5: in 9000, out 70, coarse",
            ])
        try tool.writer.execute(
            """
            INSERT INTO threads VALUES ('c', 't', '2026-09-16T09:00:00Z', 'json', '{"cumulative_token_usage":
            {"input_tokens":9,"output_tokens":7},"request_token_usage":{"m":{"input_tokens":4,"cache_read_input_tokens":80},
            "n":{"input_tokens":4,"cache_read_input_tokens":90,"cache_creation_input_tokens":5}}}');
            """)
        #expect(tool.lines.contains("2026-09-16T09:00:00Z c, no model: in 9, read 170, write 5, out 7, coarse"))
    }

    @Test("a database that another one has replaced counts no more, and what it stated is kept")
    func replaced() throws {
        let home = try TokenHome(logs: [ZedTokens()])
        func write(_ thread: String, to path: String) throws {
            try home.home.writeDatabase(
                path,
                """
                CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB);
                INSERT INTO threads VALUES ('\(thread)', 't', '2026-09-18T09:00:00Z', 'json',
                '{"cumulative_token_usage":{"input_tokens":5000,"output_tokens":1}}');
                """)
        }
        let path = ".local/share/zed/threads/threads.db"
        try write("a", to: path)
        #expect(home.usage().lines == ["2026-09-18T09:00:00Z a, no model: in 5000, out 1, coarse"])
        try write("b", to: path + ".new")
        #expect(rename(home.home.path(path + ".new"), home.home.path(path)) == 0)
        for _ in 0..<2 {
            let usage = home.usage()
            #expect(usage.lines == ["2026-09-18T09:00:00Z b, no model: in 5000, out 1, coarse"])
            #expect(usage.keptBuckets.reduce(0) { $0 + $1.counts.input } == 10_000)
        }
    }

    @Test("databases are watched with the files beside them")
    func watchedPaths() {
        let environment = SourceEnvironment(home: "/home/dev")
        let sources: [any UsageSource] = [
            CopilotSource(), GooseSource(), ZedSource(), WindsurfSource(), CursorSource(),
        ]
        for source in sources {
            let paths = source.watchedPaths(in: environment).map(\.path)
            #expect(paths.contains { $0.hasSuffix("db-wal") }, "\(source.providerID)")
        }
        for source in [OpenCodeSource(), OpenCodeGoSource()] as [any UsageSource] {
            #expect(source.watchedPaths(in: environment).contains(WatchedPath("/home/dev/.local/share/opencode")))
        }
    }
}
