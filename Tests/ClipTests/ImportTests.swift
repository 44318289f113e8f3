@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import Testing

@Suite("Importing the history of other clipboard managers")
struct ImportTests {
    private let home: ImportHome

    init() throws { home = try ImportHome() }

    private static let fixtures = ImportHome.fixtures

    @Test("every item of clipse is imported with its times and its pin, once")
    func clipse() async throws {
        let path = Self.fixtures + "/clipse/clipboard_history.json"
        let first = try await home.importing("clipse", path)
        let skipped = [
            "its image file is missing or cannot be read": 1, "looks like an AWS access key": 1, "only white space": 1,
        ]
        #expect(first == .init(read: 8, added: 5, skipped: skipped))
        let table = try home.table()
        #expect(
            table == [
                #"1760000670250 1760000670250 ×1 - - text/plain="newest text""#,
                #"1759996800000 1760000640500 ×3 - - text/plain="used again""#,
                "1760000120100 1760000120100 ×1 - - image/png=99 bytes",
                #"1760000040000 1760000040000 ×1 * - text/plain="pinned\nlines""#,
                #"1760000000987 1760000000987 ×1 - - text/plain="Grüße, 世界 👋""#,
            ])
        let second = try await home.importing("clipse", path)
        #expect(second == .init(read: 8, alreadyThere: 5, skipped: skipped))
        #expect(try home.table() == table)
    }

    @Test("every item of Maccy is imported with times, copies, pin and application, once")
    func maccy() async throws {
        let path = Self.fixtures + "/maccy/Storage.sqlite"
        let skipped = ["has no contents": 1, "has the ignored type org.nspasteboard.ConcealedType": 1]
        #expect(try await home.importing("maccy", path) == .init(read: 9, added: 7, skipped: skipped))
        let table = try home.table()
        let files = #""file:///srv/example/one.txt\nfile:///srv/example/two%20words.txt""#
        let bold = #"text/html="<p>bold <b>text</b></p>" text/plain="bold text" text/rtf="{\\rtf1 bold {\\b text}}""#
        #expect(
            table == [
                #"1760000060000 1760003660500 ×4 b com.example.browser text/plain="pinned text""#,
                #"1760000480000 1760000480000 ×1 * - text/plain="pinned with a letter of ours for more""#,
                "1760000360000 1760000360000 ×1 - com.example.files text/uri-list=" + files,
                "1760000240000 1760000300000 ×2 - com.example.browser " + bold,
                "1760000180000 1760000180000 ×1 - com.example.viewer image/png=99 bytes",
                #"1760000120000 1760000120000 ×1 * com.example.browser text/plain="pinned without a letter""#,
                #"1760000000000 1760000000000 ×1 - com.example.notes text/plain="first text""#,
            ])
        #expect(try await home.importing("maccy", path) == .init(read: 9, alreadyThere: 7, skipped: skipped))
        #expect(try home.table() == table)
    }

    /// Changes the database as Maccy does, and ends without a checkpoint: the changes are only in the log.
    private static let changes = """
        import os, sqlite3, sys
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        database.execute("PRAGMA journal_mode=WAL")
        for row, text in (20, b"only in the log"), (21, b"x" * (9 << 20)):
            database.execute("INSERT INTO ZHISTORYITEM VALUES (?,1,1,1,790000000,790000000,NULL,'c','t')", (row,))
            database.execute("INSERT INTO ZHISTORYITEMCONTENT VALUES (?,2,1,?,'public.utf8-plain-text',?)", (row, row, text))
        os._exit(0)
        """

    @Test(
        "what Maccy has not yet written to its database file is imported too, and its files stay as they are",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is not installed"))
    func maccyLog() async throws {
        let directory = try home.home.directory("Maccy")
        let path = directory + "/Storage.sqlite"
        try FileManager.default.copyItem(atPath: Self.fixtures + "/maccy/Storage.sqlite", toPath: path)
        let script = try home.home.file("changes.py", Self.changes)
        #expect(try await home.home.run("/usr/bin/python3", [script, path]).status == 0)
        func files() throws -> [String: Data?] {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            return Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, FileManager.default.contents(atPath: directory + "/" + $0))
                })
        }
        let before = try files()
        #expect(before.count == 3)
        let summary = try await home.importing("maccy", path)
        #expect(summary.read == 11 && summary.added == 8)
        #expect(summary.skipped["has a value larger than 8 MiB"] == 1)
        #expect(try home.table().first?.hasSuffix(#"c - text/plain="only in the log""#) == true)
        #expect(try files() == before)
    }
}
