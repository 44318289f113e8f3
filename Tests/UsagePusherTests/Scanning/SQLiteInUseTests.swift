import Foundation
import LocalFiles
import Synchronization
import Testing

@testable import UsagePusher

/// Databases that another program writes, left behind or keeps open.
@Suite(
    "SQLite databases in use", .serialized,
    .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct SQLiteInUseTests {
    private let directory: DatabaseDirectory
    private static let pageCount = 120

    init() throws { directory = try DatabaseDirectory() }

    /// Commits without pause and without patience until the reader says stop; runs in a process of its own.
    private static func keepWriting(_ path: String, _ settings: String, burst: Int) throws {
        let writer = try WrittenDatabase(path, "PRAGMA busy_timeout = 0", settings)
        var version = 0
        while try FileStatus(path: path + ".stop") == nil {
            guard getppid() != 1, version < 200_000 else { throw CancellationError() }
            version += 1
            try writer.writePages(pageCount, version: version)
            // A tool that rests now and then.
            if burst > 0, version.isMultiple(of: burst) { usleep(60_000) }
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
                    if reading.hasTornPadding || reading.count != pageCount
                        || reading.versions.count != 1
                    {
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
        let reader = Reader(path, wanted: 60)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let settings = "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000"
            try Self.keepWriting(path, settings, burst: 0)
        }
        let result = try reader.tally()
        #expect(result.whole == 60)
        #expect(result.torn == [])
        #expect(result.versions == result.versions.sorted())
        print("live log:", result.whole, result.inUse, result.versions.last ?? 0)
    }

    @Test("a database with a rollback journal is read between two transactions of its tool")
    func liveJournal() async throws {
        let path = directory.path()
        _ = try WrittenDatabase(path, WrittenDatabase.pages)
        let reader = Reader(path, wanted: 20)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try Self.keepWriting(path, "PRAGMA synchronous = OFF", burst: 10)
        }
        let result = try reader.tally()
        #expect(result.whole == 20)
        #expect(result.torn == [])
        #expect(result.versions == result.versions.sorted())
        print("live journal:", result.whole, result.inUse, result.versions.last ?? 0)
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
            try FileManager.default.copyItem(
                atPath: live + suffix, toPath: directory.path(name) + suffix)
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
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o500], ofItemAtPath: directory.home.path)
        defer {
            try? FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: directory.home.path)
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
            let writer = try WrittenDatabase(
                path, "PRAGMA journal_mode = WAL", WrittenDatabase.pages)
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
        let writer = try WrittenDatabase(
            path, WrittenDatabase.pages, "PRAGMA journal_mode = PERSIST")
        try writer.writePages(3, version: 1)
        // A journal whose header is zeroed is none.
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
            SQLiteFiles("/home/a.db").watchedPaths
                == ["/home/a.db", "/home/a.db-wal", "/home/a.db-journal"])
    }
}
