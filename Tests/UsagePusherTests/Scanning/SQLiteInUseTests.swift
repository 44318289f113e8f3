import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

/// Databases that another program writes, left behind or keeps open.
@Suite("SQLite databases in use", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct SQLiteInUseTests {
    private let directory: DatabaseDirectory
    private static let pageCount = 120

    init() throws { directory = try DatabaseDirectory() }

    /// Commits without pause and without patience until the reader says stop; runs in a process of its own.
    private static func keepWriting(_ path: String, _ settings: String, burst: Int) throws {
        let writer = try WrittenDatabase(path, "PRAGMA busy_timeout = 0", settings)
        var version = 0
        while try FileStatus(path: path + ".stop") == nil {
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

    /// Reads until `wanted` readings were whole, then stops the writer.
    private static func readMany(_ path: String, wanted: Int) throws -> Tally {
        defer { _ = FileManager.default.createFile(atPath: path + ".stop", contents: nil) }
        var tally = Tally()
        let deadline = ProcessInfo.processInfo.systemUptime + 60
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

    @Test("a log is read while its tool commits and checkpoints, and neither hinders the other")
    func liveLog() async throws {
        let path = directory.path()
        try WrittenDatabase(path, WrittenDatabase.pages).execute("PRAGMA journal_mode = WAL")
        async let tally = Task.detached { try Self.readMany(path, wanted: 60) }.value
        await #expect(processExitsWith: .success) { [path = path as String] in
            let settings = "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000"
            try Self.keepWriting(path, settings, burst: 0)
        }
        let result = try await tally
        #expect(result.whole == 60)
        #expect(result.torn == [])
        #expect(result.versions == result.versions.sorted())
        print("live log:", result.whole, result.inUse, result.versions.last ?? 0)
    }

    @Test("a database with a rollback journal is read between two transactions of its tool")
    func liveJournal() async throws {
        let path = directory.path()
        _ = try WrittenDatabase(path, WrittenDatabase.pages)
        async let tally = Task.detached { try Self.readMany(path, wanted: 20) }.value
        await #expect(processExitsWith: .success) { [path = path as String] in
            try Self.keepWriting(path, "PRAGMA synchronous = OFF", burst: 10)
        }
        let result = try await tally
        #expect(result.whole == 20)
        #expect(result.torn == [])
        #expect(result.versions == result.versions.sorted())
        print("live journal:", result.whole, result.inUse, result.versions.last ?? 0)
    }
}
