import Foundation
import LocalFiles
import Synchronization
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// Databases that another program writes, left behind or keeps open.
@Suite("SQLite databases in use", .serialized, .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct SQLiteInUseTests {
    private let directory: DatabaseDirectory
    private static let pageCount = 120

    init() throws { directory = try DatabaseDirectory() }

    /// Commits without patience until the reader says stop; runs in a process of its own.
    private static func keepWriting(_ path: String, _ settings: String) throws {
        let writer = try WrittenDatabase(path, "PRAGMA busy_timeout = 0", settings)
        var version = 0
        while try FileStatus(path: path + ".stop") == nil {
            guard getppid() != 1, version < 200_000 else { throw CancellationError() }
            version += 1
            try writer.writePages(pageCount, version: version)
            // A tool that rests now and then.
            if version.isMultiple(of: 10) { usleep(60_000) }  // deadline
        }
    }

    private struct Tally: Sendable {
        var whole = 0
        var inUse = 0
        var torn: [String] = []
        var versions: [Int64] = []
    }

    /// Reads on a thread of its own until `wanted` readings were whole, then stops the writer.
    private final class Reader: Sendable {
        private let result = Mutex<Result<Tally, any Error>?>(nil)

        init(_ path: String, wanted: Int) {
            Thread.detachNewThread {
                let result = Result { try Self.read(path, wanted) }
                self.result.withLock { $0 = result }
                _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil)
            }
        }

        /// To be asked after the writer has stopped.
        func tally() throws -> Tally { try #require(result.withLock { $0 }).get() }

        private static func read(_ path: String, _ wanted: Int) throws -> Tally {
            var tally = Tally()
            let deadline = ProcessInfo.processInfo.systemUptime + 120
            while tally.whole < wanted, ProcessInfo.processInfo.systemUptime < deadline {
                switch try readDatabase(path, PagesReading.init) {
                case .read(let reading) where reading.count > 0:
                    tally.whole += 1
                    tally.versions += reading.versions
                    if reading.hasTornPadding || reading.count != pageCount || reading.versions.count != 1 {
                        tally.torn.append("\(reading)")
                    }
                case .inUse: tally.inUse += 1
                default: continue
                }
            }
            return tally
        }
    }

    @Test("a log is read while its tool commits and checkpoints, and neither hinders the other")
    func liveLog() async throws {
        let path = directory.path()
        try WrittenDatabase(path, WrittenDatabase.pages).execute("PRAGMA journal_mode = WAL")
        let reader = Reader(path, wanted: 25)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let settings = "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000"
            try Self.keepWriting(path, settings)
        }
        let result = try reader.tally()
        #expect(result.whole == 25)
        #expect(result.torn == [])
        #expect(result.versions == result.versions.sorted())
        // The last to leave could remove its log.
        #expect(try directory.statuses().keys.sorted() == ["tool.db", "tool.db.stop"])
    }

    /// Another process with the database open, which executes what this one asks for.
    private final class OtherProcess: Sendable {
        private let path: String
        private let count = Mutex(0)
        private let failure = Mutex<(any Error)?>(nil)

        /// Runs `body` on a thread of its own, then stops the process.
        init(_ path: String, _ body: @escaping @Sendable (OtherProcess) throws -> Void) {
            self.path = path
            Thread.detachNewThread {
                do {
                    try body(self)
                } catch {
                    self.failure.withLock { $0 = error }
                }
                self.execute("")
            }
        }

        /// Returns when the other process has done it; an empty text stops it.
        func execute(_ sql: String) {
            let name = count.withLock { count in
                count += 1
                return "\(path).\(count)"
            }
            try? Data(sql.utf8).write(to: URL(fileURLWithPath: name), options: .atomic)
            let deadline = ProcessInfo.processInfo.systemUptime + 60
            while (try? FileStatus(path: name)) != nil, ProcessInfo.processInfo.systemUptime < deadline {
                sched_yield()
            }
        }

        func result() throws { if let error = failure.withLock({ $0 }) { throw error } }

        /// What the other process does.
        static func obey(_ path: String, _ settings: String) throws {
            let writer = try WrittenDatabase(path, settings)
            for number in 1... {
                let name = URL(fileURLWithPath: "\(path).\(number)")
                while try FileStatus(path: name.path) == nil {
                    guard getppid() != 1 else { throw CancellationError() }
                    sched_yield()
                }
                let sql = try String(contentsOf: name, encoding: .utf8)
                if !sql.isEmpty { try writer.execute(sql) }
                try FileManager.default.removeItem(at: name)
                if sql.isEmpty { return }
            }
        }
    }

    @Test("what a tool does to its log while we read counts only if it changes what we read")
    func logChanges() async throws {
        let path = directory.path()
        let other = OtherProcess(path) { other in
            let pages = { WrittenDatabase.transaction(Self.pageCount, version: $0) }
            let checkpoint = "PRAGMA wal_checkpoint(PASSIVE);"
            // Everything in the database file, and something in the log.
            other.execute(WrittenDatabase.pages)
            let start =
                pages(1) + "PRAGMA wal_checkpoint(TRUNCATE);"
                + "CREATE TABLE IF NOT EXISTS other (a); INSERT INTO other VALUES (1);"
            for (sql, attempts, version) in [
                (checkpoint, 1, 1),
                (pages(2), 1, 1),
                (pages(2) + checkpoint, 2, 2),
                (checkpoint + pages(2), 2, 2),
                ("PRAGMA wal_checkpoint(TRUNCATE);" + pages(2) + checkpoint, 2, 2),
            ] {
                other.execute(start)
                var count = 0
                let reading = try readDatabase(path) { connection throws(SQLiteError) in
                    count += 1
                    return try PagesReading(connection) { if count == 1 { other.execute(sql) } }
                }
                #expect(reading.value?.versions == [Int64(version)], "\(sql.suffix(70))")
                #expect(reading.value?.count == Self.pageCount)
                #expect(count == attempts, "\(sql.suffix(70))")
            }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try OtherProcess.obey(path, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        }
        try other.result()
    }

    @Test("a database with a rollback journal is read between two transactions of its tool")
    func liveJournal() async throws {
        let path = directory.path()
        _ = try WrittenDatabase(path, WrittenDatabase.pages)
        let reader = Reader(path, wanted: 10)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try Self.keepWriting(path, "PRAGMA synchronous = OFF")
        }
        let result = try reader.tally()
        #expect(result.whole == 10)
        #expect(result.torn == [])
        #expect(result.versions == result.versions.sorted())
    }

    /// The log as a crash leaves it: copied from below a program that has it open.
    private func leaveLog(_ name: String, withIndex: Bool = false) throws -> String {
        let live = directory.path("live-\(name)")
        let writer = try WrittenDatabase(
            live, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0", WrittenDatabase.pages)
        try writer.writePages(3, version: 1)
        try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try writer.writePages(3, version: 2)
        for suffix in ["", "-wal"] + (withIndex ? ["-shm"] : []) {
            try FileManager.default.copyItem(atPath: live + suffix, toPath: directory.path(name) + suffix)
        }
        return directory.path(name)
    }

    @Test("a log that a crash left behind is read and stays, with or without its index")
    func crashedLog() throws {
        for withIndex in [false, true] {
            let path = try leaveLog("crashed-\(withIndex).db", withIndex: withIndex)
            let before = try directory.statuses()
            let reading = try readDatabase(path, PagesReading.init).value
            #expect(reading?.versions == [2])
            #expect(try directory.statuses() == before)
        }
    }

    @Test("a directory that cannot be written is read like any other")
    func readOnlyDirectory() throws {
        let path = try leaveLog("crashed.db")
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory.home.path)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.home.path)
        }
        #expect(try readDatabase(path, PagesReading.init).value?.versions == [2])
    }

    @Test("only the committed part of a log counts")
    func tornLog() throws {
        let path = try leaveLog("torn.db")
        let log = FileHandle(forUpdatingAtPath: path + "-wal")
        let size = try #require(try log?.seekToEnd())
        try log?.truncate(atOffset: size - 100)
        try log?.close()
        #expect(try readDatabase(path, PagesReading.init).value?.versions == [1])
    }

    @Test("a database in the log's mode without a log is read, and gets none")
    func withoutLog() throws {
        let path = directory.path()
        do {
            let writer = try WrittenDatabase(path, "PRAGMA journal_mode = WAL", WrittenDatabase.pages)
            try writer.writePages(3, version: 1)
        }
        let before = try directory.statuses()
        #expect(Array(before.keys) == ["tool.db"])
        #expect(try readDatabase(path, PagesReading.init).value?.versions == [1])
        #expect(try directory.statuses() == before)
    }

    @Test("a log or a change that comes while the database is read is part of the next reading")
    func changesWhileReading() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(path, WrittenDatabase.pages)
        try writer.writePages(3, version: 1)
        var attempts = 0
        let outcome = try readDatabase(path) { connection throws(SQLiteError) in
            attempts += 1
            let before = try PagesReading(connection)
            if attempts < 2 { try? writer.writePages(3, version: 2) }
            return before
        }
        #expect(attempts > 1)
        #expect(outcome.value?.versions == [2])
    }

    @Test("a database that never rests is in use, whatever a reading of it comes to")
    func neverRests() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(path, WrittenDatabase.pages)
        try writer.writePages(3, version: 1)
        var version = 1
        let outcome = try readDatabase(path) { connection throws(SQLiteError) -> Int in
            version += 1
            try? writer.writePages(3, version: version)
            throw SQLiteError(path: path, cause: .damaged)
        }
        guard case .inUse = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(version == 1 + SQLiteDatabase.attemptCount)
    }

    @Test("a transaction that is being written, or was interrupted, is left to its tool")
    func hotJournal() throws {
        let path = directory.path()
        let writer = try WrittenDatabase(path, WrittenDatabase.pages, "PRAGMA journal_mode = PERSIST")
        try writer.writePages(3, version: 1)
        // A journal whose header is zeroed is not hot.
        #expect(try FileStatus(path: path + "-journal") != nil)
        #expect(try readDatabase(path, PagesReading.init).value?.versions == [1])

        let journal = FileHandle(forUpdatingAtPath: path + "-journal")
        try journal?.write(contentsOf: [0xD9])
        try journal?.close()
        let before = try directory.statuses()
        guard case .inUse = try readDatabase(path, PagesReading.init) else {
            return #expect(Bool(false), "read beside a hot journal")
        }
        #expect(try directory.statuses() == before)
    }

    @Test("what to watch are the database, its log and its journal")
    func watchedPaths() {
        #expect(
            SQLiteFiles.watchedPaths(of: ["/home/a.db"]).map(\.path)
                == ["/home/a.db", "/home/a.db-wal", "/home/a.db-journal"])
    }
}
