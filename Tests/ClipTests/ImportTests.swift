import ClipCore
import Foundation
import KVStoreHTTP
import ProgramTesting
import Testing

@testable import clip

@Suite("Importing the history of other clipboard managers")
struct ImportTests {
    private static let fixtures = ImportHome.fixtures

    @Test("every item of clipse is imported with its times and its pin, once")
    func clipse() async throws {
        let home = try ImportHome()
        defer { home.remove() }
        let path = Self.fixtures + "/clipse/clipboard_history.json"
        let first = try await home.importing("clipse", path)
        let skipped = [
            "its image file is missing or cannot be read": 1, "looks like an AWS access key": 1,
            "only white space": 1,
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
        let home = try ImportHome()
        defer { home.remove() }
        let path = Self.fixtures + "/maccy/Storage.sqlite"
        let skipped = [
            "has no contents": 1,
            "has the ignored type org.nspasteboard.ConcealedType": 1,
        ]
        #expect(
            try await home.importing("maccy", path) == .init(read: 9, added: 7, skipped: skipped))
        let table = try home.table()
        let files = #""file:///srv/example/one.txt\nfile:///srv/example/two%20words.txt""#
        let bold =
            #"text/html="<p>bold <b>text</b></p>" text/plain="bold text" text/rtf="{\\rtf1 bold {\\b text}}""#
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
        #expect(
            try await home.importing("maccy", path)
                == .init(read: 9, alreadyThere: 7, skipped: skipped))
        #expect(try home.table() == table)
    }
}
