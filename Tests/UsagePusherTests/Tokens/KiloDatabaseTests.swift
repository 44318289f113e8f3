import Foundation
import LocalFiles
import Testing

@testable import SQLiteReading
@testable import UsagePusher

@Suite("Kilo's database in use", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct KiloDatabaseTests {
    private let home: SampleHome
    private let database: WrittenDatabase

    init() throws {
        home = try SampleHome()
        try home.createDirectory(".local/share/kilo")
        database = try WrittenDatabase(
            home.path(".local/share/kilo/kilo.db"),
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, data TEXT NOT NULL)"
        )
    }

    private func write(_ id: String, created: Int, output: Int, isCompleted: Bool = true) throws {
        let completed = isCompleted ? ",\"completed\":\(created + 1)" : ""
        try database.execute(
            """
            INSERT OR REPLACE INTO message VALUES ('\(id)', 's', '{"role":"assistant","modelID":"m",\
            "tokens":{"input":1,"output":\(output),"reasoning":0,"cache":{"read":0,"write":0}},\
            "time":{"created":\(created)\(completed)}}')
            """)
    }

    private static let start = 1_789_639_200_000

    private func outputs() -> (requests: Int, output: Int, isPartial: Bool) {
        var environment = home.environment(["XDG_STATE_HOME": home.path(".state")])
        environment.keepsCache = true
        let usage = TokenLedger(logs: [OpenCodeTokens.kilo], environment: environment).update(
            in: environment, prices: .packaged)
        return (
            usage.buckets.reduce(0) { $0 + $1.requestCount },
            usage.buckets.reduce(0) { $0 + $1.counts.output }, usage.isPartial
        )
    }

    @Test("a row that is only in the log beside the database is seen at the next update")
    func log() throws {
        try write("msg_1", created: Self.start, output: 10)
        #expect(outputs() == (1, 10, false))
        try write("msg_2", created: Self.start + 60_000, output: 5)
        #expect(outputs() == (2, 15, false))
        #expect(outputs() == (2, 15, false))
    }

    @Test("a message counts once, with its last numbers")
    func running() throws {
        try write("msg_1", created: Self.start, output: 10, isCompleted: false)
        try write("msg_2", created: Self.start + 60_000, output: 5)
        #expect(outputs() == (2, 15, false))
        try database.execute(
            """
            UPDATE message SET data = replace(replace(data, '"output":10', '"output":20'),
            '"created":\(Self.start)', '"created":\(Self.start),"completed":\(Self.start + 9)')
            WHERE id = 'msg_1'
            """)
        #expect(outputs() == (2, 25, false))
    }

    @Test("after a VACUUM, which may renumber rows, nothing is missed or counted twice")
    func vacuum() throws {
        for index in 0..<5 {
            try write("msg_\(index)", created: Self.start + index * 1_000, output: 1)
        }
        #expect(outputs() == (5, 5, false))
        try database.execute("DELETE FROM message WHERE id IN ('msg_0', 'msg_1', 'msg_4')")
        try database.execute("VACUUM")
        try write("msg_9", created: Self.start + 9_000, output: 1)
        #expect(outputs() == (6, 6, false))
    }

    @Test("more rows than one step reads are read in steps")
    func steps() throws {
        try database.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO message SELECT 'm' || i, 's', '{"role":"assistant","modelID":"m","tokens":{"output":1},'
            || '"time":{"created":' || (\(Self.start) + i) || ',"completed":\(Self.start)}}' FROM n
            """)
        #expect(outputs() == (9_000, 9_000, false))
    }
}
