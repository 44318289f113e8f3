import Foundation
import LocalFiles
import StoreTestSupport
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// Files that are no databases, damaged ones, and ones that are made to be expensive.
@Suite("Hostile SQLite databases", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct SQLiteHostileTests {
    private let directory: DatabaseDirectory

    init() throws { directory = try DatabaseDirectory() }

    private func cause(_ path: String) -> SQLiteError.Cause? {
        do throws(SQLiteError) {
            _ = try readDatabase(path, PagesReading.init)
            return nil
        } catch {
            return error.cause
        }
    }

    @Test("a pipe, a directory, a file of the kernel and a text are refused")
    func noDatabases() throws {
        let pipe = directory.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(cause(pipe) == .file(FileError(operation: "read", path: pipe, cause: .notAFile)))
        let path = directory.home.path
        #expect(cause(path) == .file(FileError(operation: "read", path: path, cause: .notAFile)))
        let link = directory.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc/self/environ")
        if FileManager.default.fileExists(atPath: link) { #expect(cause(link) == .notADatabase) }
        try directory.home.write("text", String(repeating: "SQLite? ", count: 200))
        #expect(cause(directory.path("text")) == .notADatabase)
        try directory.home.write("empty", "")
        #expect(cause(directory.path("empty")) == .notADatabase)
    }

    @Test("a pipe in place of the log, its index or the journal is refused")
    func hostileSiblings() throws {
        for suffix in ["-wal", "-shm", "-journal"] {
            let path = directory.path("tool\(suffix).db")
            _ = try WrittenDatabase(path, WrittenDatabase.pages)
            #expect(mkfifo(path + suffix, 0o600) == 0)
            #expect(cause(path) == .file(FileError(operation: "read", path: path + suffix, cause: .notAFile)))
        }
    }

    @Test("damaged bytes anywhere are an error or other values, never more")
    func damage() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(path, "PRAGMA page_size = 1024", WrittenDatabase.pages)
        try writer.writePages(60, version: 3)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var randomness = SeededGenerator(seed: 22)
        var causes: [String: Int] = [:]
        for round in 0..<200 {
            var bytes = whole
            for _ in 0..<(1 + round % 20) {
                // Half of them where the structure is.
                let page = Int.random(in: 0..<bytes.count / 1_024, using: &randomness) * 1_024
                let range = round.isMultiple(of: 2) ? 16..<120 : 0..<1_024
                let offset = Int.random(in: range, using: &randomness)
                bytes[page + offset] = UInt8.random(in: 0...255, using: &randomness)
            }
            let damaged = directory.path("damaged.db")
            try bytes.write(to: URL(fileURLWithPath: damaged))
            try FileManager.default.setAttributes([.modificationDate: sampleNow], ofItemAtPath: damaged)
            causes[cause(damaged).map { "\($0)" } ?? "read", default: 0] += 1
        }
        #expect(causes["damaged", default: 0] > 0, "\(causes)")
        #expect(causes["read", default: 0] > 0, "\(causes)")
    }

    @Test("a damaged log ends where the damage begins")
    func damagedLog() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(
            path, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0", WrittenDatabase.pages)
        try writer.writePages(20, version: 1)
        try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try writer.writePages(20, version: 2)
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let main = try Data(contentsOf: URL(fileURLWithPath: path))
        var randomness = SeededGenerator(seed: 23)
        var seen: Set<Int64> = []
        for round in 0..<60 {
            let copy = directory.path("copy-\(round).db")
            var bytes = log
            bytes[Int.random(in: 32..<bytes.count, using: &randomness)] ^= 0x10
            try main.write(to: URL(fileURLWithPath: copy))
            try bytes.write(to: URL(fileURLWithPath: copy + "-wal"))
            try FileManager.default.setAttributes([.modificationDate: sampleNow], ofItemAtPath: copy)
            let versions = try readDatabase(copy, PagesReading.init).value?.versions ?? []
            #expect(versions.count == 1)
            seen.formUnion(versions)
        }
        #expect(seen == [1])
    }

    @Test("the budget's bytes bound a value, a schema and a log")
    func bytes() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(path, "CREATE TABLE t (a, b)")
        try writer.execute("INSERT INTO t VALUES (zeroblob(50000000), 12345)")
        // Otherwise a pass that finds it just written is repeated, without a budget.
        try FileManager.default.setAttributes([.modificationDate: sampleNow], ofItemAtPath: path)
        var limits = ScanLimits()
        limits.byteCount = 1_048_576
        var budget = ScanBudget(limits: limits)
        // The column behind it is reached through all its pages.
        let outcome = try SQLiteDatabase.read(path, budget: &budget) { database throws(SQLiteError) in
            _ = try database.columns(of: "t")
            return try database.query("SELECT b FROM t") { _ in }
        }
        #expect(outcome.value == false)
        #expect(budget.isExceeded)
        #expect(budget.bytesRead < 1_200_000)
        guard case .outOfBudget = try SQLiteDatabase.read(path, budget: &budget, { _ in 1 }) else {
            return #expect(Bool(false))
        }
    }

    @Test("steps and time bound a scan, which keeps the rows before")
    func steps() throws {
        let path = directory.path()
        _ = try WrittenDatabase(
            path, "CREATE TABLE t (a)",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO t SELECT i FROM n
            """)
        func rows(_ budget: inout ScanBudget, stepCount: Int?) throws -> Int? {
            var count = 0
            let outcome = try SQLiteDatabase.read(path, budget: &budget, stepCount: stepCount) {
                database throws(SQLiteError) in
                count = 0
                _ = try database.columns(of: "t")
                return try database.query("SELECT a FROM t") { _ in count += 1 }
            }
            return outcome.value.map { $0 ? -1 : count }
        }
        var budget = ScanBudget()
        #expect(try rows(&budget, stepCount: nil) == -1)
        #expect(!budget.isExceeded)
        let counted = try #require(try rows(&budget, stepCount: 100_000))
        #expect((1..<50_000).contains(counted))
        #expect(budget.isExceeded)

        // A clock that jumps once rows have been read.
        let clock = SteppedClock()
        var timed = ScanBudget(monotonicSeconds: { clock.seconds })
        let outcome = try SQLiteDatabase.read(path, budget: &timed) { database throws(SQLiteError) in
            _ = try database.columns(of: "t")
            return try database.query("SELECT a FROM t") { _ in clock.seconds = 10 }
        }
        #expect(outcome.value == false)
        #expect(timed.isExceeded)
    }

    private final class SteppedClock: @unchecked Sendable { var seconds = 0.0 }

    @Test("a schema of thousands of tables is read or refused within the limits")
    func manyTables() throws {
        let path = directory.path()
        let columns = (0..<100).map { "column\($0) TEXT DEFAULT 'x'" }.joined(separator: ", ")
        _ = try WrittenDatabase(
            path, WrittenDatabase.pages,
            """
            PRAGMA writable_schema = ON;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
            INSERT INTO sqlite_master SELECT 'table', 't' || i, 't' || i, 2,
              'CREATE TABLE t' || i || ' (id INTEGER PRIMARY KEY, \(columns.replacing("'", with: "''")))' FROM n
            """)
        #expect(cause(path) == .outOfMemory)
    }
}
