import Foundation
import LocalFiles
import Synchronization
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// A database of some rows, and the source that reads it.
struct GrownDatabase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: String
    let provider: String
    let tables: String
    /// What inserts rows, numbered by `i` of a table `n`.
    let rows: [String]

    private static let message =
        #"json_object('role', 'assistant', 'providerID', 'opencode-go', 'modelID', 'm', 'cost', 0.5, 'tokens', "#
        + #"json_object('input', i, 'output', 2), 'time', json_object('created', 1789639200000 + i))"#
    private static let openCode = (
        tables: """
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT);
        CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, data TEXT);
        """,
        rows: [
            "INSERT INTO message SELECT 'm' || i, 's' || (i / 9), 1789639200000 + i, \(message) FROM n",
            "INSERT INTO part SELECT 'p' || i, 'm' || i, 's' || (i / 9), 1789639200000 + i, json_object('type', 'step-finish', 'cost', 0.1, 'tokens', json_object('input', i, 'output', 2)) FROM n",
            "INSERT INTO session SELECT 's' || i, '/d' FROM n",
            "INSERT INTO session_message SELECT 'x' || i, 's' || (i / 9), 'assistant', \(message) FROM n",
        ]
    )

    static let all = [
        // With the last change first, so that ids are no order of time.
        GrownDatabase(
            testDescription: "zed", path: ".local/share/zed/threads/threads.db", provider: "zed",
            tables:
                "CREATE TABLE threads (id TEXT PRIMARY KEY, updated_at TEXT, data_type TEXT, data BLOB)",
            rows: [
                "INSERT INTO threads SELECT 't' || i, strftime('%Y-%m-%dT%H:%M:%SZ', 1789639200 - i, 'unixepoch'), 'json', json_object('cumulative_token_usage', json_object('input_tokens', i)) FROM n"
            ]),
        GrownDatabase(
            testDescription: "goose", path: ".local/share/goose/sessions/sessions.db",
            provider: "goose",
            tables: """
                CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT, created_at TEXT, updated_at TEXT,
                accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT);
                CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, created_timestamp INTEGER, model TEXT,
                input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL,
                cost_source TEXT);
                """,
            rows: [
                "INSERT INTO sessions SELECT 's' || i, '/d', '2026-09-17 10:00:00', strftime('%Y-%m-%d %H:%M:%S', 1789639200 - i, 'unixepoch'), i, 1, NULL FROM n",
                "INSERT INTO usage_ledger SELECT i, 's' || (i / 9), 1789639200 + i, 'm', i, 1, 0, 0, 0, 'x' FROM n WHERE i % 2",
            ]),
        GrownDatabase(
            testDescription: "copilot", path: ".copilot/session-store.db", provider: "copilot",
            tables: """
                CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT);
                CREATE TABLE assistant_usage_events (id INTEGER PRIMARY KEY, session_id TEXT, model TEXT, created_at TEXT,
                input_tokens INTEGER, output_tokens INTEGER);
                """,
            rows: [
                "INSERT INTO sessions SELECT 's' || i, '/d' FROM n",
                "INSERT INTO assistant_usage_events SELECT i, 's' || (i / 3), 'm', '2026-09-17T10:00:00Z', i, 1 FROM n",
            ]),
        GrownDatabase(
            testDescription: "opencode", path: ".local/share/opencode/opencode.db",
            provider: "opencode", tables: openCode.tables, rows: openCode.rows),
        GrownDatabase(
            testDescription: "kilo", path: ".local/share/kilo/kilo.db", provider: "kilo",
            tables: openCode.tables, rows: openCode.rows),
        GrownDatabase(
            testDescription: "opencodego", path: ".local/share/opencode/opencode.db",
            provider: "opencodego", tables: openCode.tables, rows: openCode.rows),
        GrownDatabase(
            testDescription: "kiro", path: ".local/share/kiro-cli/data.sqlite3", provider: "kiro",
            tables:
                "CREATE TABLE conversations_v2 (conversation_id TEXT, updated_at INTEGER, value TEXT)",
            rows: [
                "INSERT INTO conversations_v2 SELECT 'c' || i, 1789639200000, json_object('user_turn_metadata', json_object('usage_info', json_array(json_object('value', 1, 'unit', 'credit')))) FROM n"
            ]),
        GrownDatabase(
            testDescription: "cursor", path: ".config/Cursor/User/globalStorage/state.vscdb",
            provider: "cursor", tables: "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)",
            rows: ["INSERT INTO ItemTable SELECT 'k' || i, 'v' FROM n"]),
        GrownDatabase(
            testDescription: "windsurf", path: ".config/Windsurf/User/globalStorage/state.vscdb",
            provider: "windsurf", tables: "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)",
            rows: ["INSERT INTO ItemTable SELECT 'k' || i, 'v' FROM n"]),
    ]

    /// How often a reading has looked at the clock: for each page that it reads, each thousand of SQLite's instructions
    /// and each step.
    func cost(rowCount: Int) throws -> (cost: Int, requestCount: Int) {
        let home = try SampleHome()
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount)) "
        try home.writeDatabase(
            path,
            "BEGIN; \(tables);"
                + rows.map { row in
                    row.replacing("SELECT", with: numbers + "SELECT", maxReplacements: 1) + ";"
                }.joined() + "COMMIT;")
        let looks = Atomic<Int>(0)
        var environment = home.environment()
        environment.monotonicSeconds = {
            looks.add(1, ordering: .relaxed)
            return 0
        }
        var source = try #require(UsageSources.all.first { $0.providerID == provider })
        let isRead = !source.read(in: environment, at: sampleNow).isPartial
        #expect(isRead)
        let usage = TokenLedger(of: [provider], in: environment).update(in: environment, prices: .packaged)
        #expect(!usage.isPartial && usage.issues.isEmpty && usage.leftOut.isEmpty)
        let requestCount = usage.buckets.reduce(0) { $0 + $1.requestCount }
        return (looks.load(ordering: .relaxed), requestCount)
    }
}

@Suite(
    "Cost of reading databases", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"), .timeLimit(.minutes(10)))
struct DatabaseCostTests {
    @Test("twice as many rows cost twice as much", arguments: GrownDatabase.all)
    func linear(_ database: GrownDatabase) throws {
        let (some, more) = try (database.cost(rowCount: 3_000), database.cost(rowCount: 6_000))
        #expect(Double(more.cost) <= 2.2 * Double(some.cost), "\(some.cost), \(more.cost)")
        #expect(more.requestCount >= some.requestCount * 19 / 10)
    }

    @Test("rows that change while a table is read are read with the next update")
    func changedBehind() throws {
        let home = try SampleHome()
        let writer = try WrittenDatabase(
            home.path("t.db"), "CREATE TABLE t (id INTEGER PRIMARY KEY, at TEXT)",
            "INSERT INTO t VALUES (1, 'a'), (2, 'd'), (3, 'c'), (4, 'b'), (5, 'd')")
        var cursor = ChangeCursor()
        func step() throws -> [Int64] {
            let step = try #require(
                try readDatabase(home.path("t.db")) { connection throws(SQLiteError) in
                    _ = try connection.columns(of: "t")
                    return try cursor.rows(of: "t", changedAt: "at", in: connection, limit: 2)
                }.value)
            cursor = step.cursor
            return step.rows.filter(\.isNew).map(\.id) + (step.isComplete ? [0] : [])
        }
        #expect(try step() == [1, 2])
        try writer.execute("UPDATE t SET at = 'e' WHERE id = 2")
        #expect(try step() == [3, 4])
        try writer.execute("UPDATE t SET at = 'f' WHERE id = 5; INSERT INTO t VALUES (6, NULL)")
        // A row without a time fills the step.
        #expect(try step() == [5])
        #expect(try step() == [0])
        // What has changed since, and once more what had the greatest time then.
        #expect(try step() == [2, 5])
        #expect(try step() == [0])
        try writer.execute("DELETE FROM t")
        #expect(try step() == [0])
    }
}
