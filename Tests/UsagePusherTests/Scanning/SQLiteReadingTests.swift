import Foundation
import LocalFiles
import Testing

@testable import SQLiteReading
@testable import UsagePusher

@Suite("Reading SQLite databases", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct SQLiteReadingTests {
    private let directory: DatabaseDirectory

    init() throws { directory = try DatabaseDirectory() }

    @Test("values come with their types, and nil stands for every other type")
    func values() throws {
        let path = directory.path()
        _ = try WrittenDatabase(
            path, "CREATE TABLE t (a, b, c, d, e)", "INSERT INTO t VALUES (7, 2.5, 'naïve', x'00FF', NULL)")
        let isRead = try readDatabase(path) { database throws(SQLiteError) in
            #expect(try database.columns(of: "t") == ["a", "b", "c", "d", "e"])
            return try database.query("SELECT a, b, c, d, e FROM t") { row in
                #expect(row.integer(0) == 7)
                #expect(row.double(0) == 7)
                #expect(row.double(1) == 2.5)
                #expect(row.integer(1) == nil)
                #expect(row.text(2) == "naïve")
                #expect(row.withBytes(2) { $0.count } == 6)
                #expect(row.bytes(3, limit: 2) == Data([0, 0xFF]))
                #expect(row.bytes(3, limit: 1) == nil)
                #expect(row.text(3) == nil)
                #expect(row.text(4) == nil)
                #expect(row.integer(5) == nil)
                #expect(row.integer(-1) == nil)
            }
        }
        #expect(isRead.value == true)
    }

    @Test("a row is found by its key")
    func parameters() throws {
        let path = directory.path()
        _ = try WrittenDatabase(
            path, "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
            "INSERT INTO ItemTable VALUES ('plan', '{}'), ('it''s', '[]')")
        var found: [String] = []
        for key in ["plan", "it's", "absent"] {
            let value = try readDatabase(path) { database throws(SQLiteError) -> String? in
                guard try database.columns(of: "ItemTable") != nil else { return nil }
                var text: String?
                _ = try database.query(
                    "SELECT value FROM ItemTable WHERE key = ?1", [.text(key)]
                ) { text = $0.decodedText(0) }
                return text
            }
            found.append(value.value.flatMap { $0 } ?? "-")
        }
        #expect(found == ["{}", "[]", "-"])
    }

    @Test("text in a blob is UTF-8 or UTF-16 in either order, and nothing else")
    func storedText() {
        func decode(_ bytes: [UInt8]) -> String? { bytes.withUnsafeBytes(StoredText.decode) }
        #expect(decode(Array("{\"é\":1}".utf8)) == "{\"é\":1}")
        #expect(decode([0xEF, 0xBB, 0xBF, 0x7B]) == "{")
        #expect(decode([0x7B, 0, 0xE9, 0]) == "{é")
        #expect(decode([0, 0x7B, 0, 0xE9]) == "{é")
        #expect(decode([0xFF, 0xFE, 0xE9, 0]) == "é")
        #expect(decode([0xFE, 0xFF, 0, 0xE9]) == "é")
        #expect(decode([0x7B, 0, 0xE9]) == nil)
        #expect(decode([0xC3]) == nil)
        #expect(decode([0x7B, 0, 0, 0xD8]) == nil)
        #expect(decode([]) == "")
    }

    @Test("a database in UTF-16 is read as text")
    func encodedDatabase() throws {
        let path = directory.path()
        _ = try WrittenDatabase(
            path, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (a)", "INSERT INTO t VALUES ('naïve')")
        let text = try readDatabase(path) { database throws(SQLiteError) -> String? in
            var text: String?
            _ = try database.columns(of: "t")
            _ = try database.query("SELECT a FROM t") { text = $0.text(0) }
            return text
        }
        #expect(text.value == "naïve")
    }

    @Test("rows are continued after the last one that was read")
    func continuedRows() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(
            path, "CREATE TABLE t (a)", "INSERT INTO t (rowid, a) VALUES (-4, 1), (2, 2), (9, 3)")
        func scan(after: Int64?, limit: Int) throws -> (SQLiteConnection.Scan?, [Int64?]) {
            var values: [Int64?] = []
            let outcome = try readDatabase(path) { database throws(SQLiteError) in
                values = []
                _ = try database.columns(of: "t")
                return try database.rows(of: "t", ["a"], after: after, limit: limit) { id, row in
                    values.append(row.integer(0))
                }
            }
            return (outcome.value, values)
        }
        let first = try scan(after: nil, limit: 2)
        #expect(first.0 == .init(lastRowID: 2))
        #expect(first.1 == [1, 2])
        let second = try scan(after: 2, limit: 2)
        #expect(second.0 == .init(lastRowID: 9, isComplete: true))
        #expect(second.1 == [3])
        try writer.execute("INSERT INTO t (a) VALUES (4)")
        let third = try scan(after: 9, limit: 100)
        #expect(third.0 == .init(lastRowID: 10, isComplete: true))
        #expect(third.1 == [4])
        #expect(try scan(after: 10, limit: 1).0 == .init(lastRowID: 10, isComplete: true))
    }

    @Test("a row with a value that is too long is skipped and counted")
    func tooLongRows() throws {
        let path = directory.path()
        _ = try WrittenDatabase(
            path, "CREATE TABLE t (a, b)",
            """
            INSERT INTO t VALUES (1, zeroblob(40000)), (2, 'ok'), (3, zeroblob(9)), (4, zeroblob(90000)),
              (5, zeroblob(40000))
            """)
        for limit in [2, 3, 4, 100] {
            var values: [Int64?] = []
            let outcome = try readDatabase(path, valueByteLimit: 30_000) { database throws(SQLiteError) in
                values = []
                _ = try database.columns(of: "t")
                return try database.rows(of: "t", ["b", "a"], limit: limit) { _, row in
                    values.append(row.integer(1))
                }
            }
            #expect(values == (limit == 2 ? [2] : [2, 3]))
            #expect(outcome.value?.tooLongCount == [2: 1, 3: 1, 4: 2, 100: 3][limit])
            #expect(outcome.value?.lastRowID == [2: 2, 3: 3, 4: 4, 100: 5][limit])
            #expect(outcome.value?.isComplete == (limit == 100))
        }
        #expect(throws: SQLiteError(path: path, cause: .valueTooLong(byteLimit: 30_000))) {
            try readDatabase(path, valueByteLimit: 30_000) { database throws(SQLiteError) in
                _ = try database.columns(of: "t")
                return try database.query("SELECT b FROM t WHERE a = 4") { _ in }
            }
        }
    }

    @Test("only stored columns of tables can be read")
    func checkedSchema() throws {
        let path = directory.path()
        _ = try WrittenDatabase(
            path, "CREATE TABLE t (a, b AS (a + 1) STORED, c AS (a * 2), _rowid_ TEXT)", "INSERT INTO t (a) VALUES (1)",
            "CREATE TABLE u (a)", "CREATE VIEW v AS SELECT a FROM t", "CREATE VIRTUAL TABLE w USING fts5(a)")
        func attempt(_ sql: String) throws -> SQLiteDatabase.Outcome<Bool> {
            try readDatabase(path) { database throws(SQLiteError) in
                #expect(try database.columns(of: "t") == ["a", "_rowid_"])
                #expect(try database.columns(of: "v") == nil)
                #expect(try database.columns(of: "w") == nil)
                #expect(try database.columns(of: "T") == nil)
                return try database.query(sql) { _ in }
            }
        }
        #expect(try attempt("SELECT a FROM t WHERE rowid > 0").value == true)
        #expect(try attempt("SELECT count(*) FROM t").value == true)
        for sql in [
            "SELECT b FROM t", "SELECT c FROM t", "SELECT a FROM u", "SELECT a FROM v",
            "SELECT a FROM w", "SELECT sql FROM sqlite_master", "PRAGMA user_version",
            "DELETE FROM t", "ATTACH 'x' AS x", "BEGIN", "SELECT name FROM pragma_table_info('t')",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        ] {
            #expect(throws: SQLiteError(path: path, cause: .unexpectedSchema), "\(sql)") {
                try attempt(sql)
            }
        }
        #expect(throws: SQLiteError(path: path, cause: .unexpectedSchema)) {
            try readDatabase(path) { database throws(SQLiteError) in
                _ = try database.columns(of: "t")
                return try database.rows(of: "t", ["a"], limit: 1) { _, _ in }
            }
        }
    }

    @Test("without SQLite the package is named; without a file there is nothing to say")
    func missing() throws {
        let path = directory.path()
        var budget = ScanBudget()
        let absent = SQLiteLibrary(fileNames: ["libsqlite3.so.absent"])
        func read() throws -> SQLiteDatabase.Outcome<Int> {
            try SQLiteDatabase.read(path, budget: &budget, library: absent) { _ in 1 }
        }
        guard case .missing = try read() else { return #expect(Bool(false)) }
        _ = try WrittenDatabase(path, "CREATE TABLE t (a)")
        let error = #expect(throws: SQLiteError.self) { try read() }
        #expect(
            error?.finding(title: "Tool").detail
                == "was not read: SQLite is not installed; install \(SQLiteLibrary.packageName)")
    }

    @Test("a link leads to the database and to the log beside it")
    func link() throws {
        try FileManager.default.createDirectory(atPath: directory.path("real"), withIntermediateDirectories: false)
        let writer = try WrittenDatabase(
            directory.path("real/tool.db"), "PRAGMA journal_mode = WAL", WrittenDatabase.pages)
        try writer.writePages(2, version: 5)
        try FileManager.default.createSymbolicLink(atPath: directory.path(), withDestinationPath: "real/tool.db")
        #expect(try readDatabase(directory.path(), PagesReading.init).value?.versions == [5])
    }
}
