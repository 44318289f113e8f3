@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import Testing

@Suite("Importing the histories of cliphist and CopyQ")
struct ImportDatabaseTests {
    private let home: ImportHome

    init() throws { home = try ImportHome() }

    private static let fixtures = ImportHome.fixtures

    /// The items in both forms of cliphist's database.
    private static let contents = [
        #"text/plain="last copy""#, "text/plain=\"<b>bold</b>\"",
        #"text/plain="Grüße, 世界 👋""#,
        "text/plain=\"" + String(repeating: "A long text that needs pages of its own. ", count: 220) + "\"",
        "image/png=99 bytes", #"text/plain="second copy\nof two lines""#,
        #"text/plain="first copy""#,
    ]

    @Test("every item of cliphist is imported in its order, once")
    func cliphist() async throws {
        let path = Self.fixtures + "/cliphist/db"
        let skipped = ["has no type that is kept": 1, "looks like an AWS access key": 1]
        #expect(try await home.importing("cliphist", path) == .init(read: 9, added: 7, skipped: skipped))
        let table = try home.table()
        #expect(table.map { $0.contents } == Self.contents)
        #expect(table.allSatisfy { $0.contains(" ×1 - - ") })
        #expect(try await home.importing("cliphist", path) == .init(read: 9, alreadyThere: 7, skipped: skipped))
        #expect(try home.table() == table)
    }

    @Test("times and types of newer versions of cliphist are kept")
    func metadata() async throws {
        let path = Self.fixtures + "/cliphist/db-metadata"
        #expect(try await home.importing("cliphist", path).added == 7)
        let seconds = [420, 300, 240, 180, 120, 60, 0]
        var contents = Self.contents
        contents[1] = #"text/html="<b>bold</b>""#
        #expect(
            try home.table()
                == zip(seconds, contents).map {
                    let time = (1_760_000_000 + $0) * 1_000
                    return "\(time) \(time) ×1 - - \($1)"
                })
        #expect(try await home.importing("cliphist", path).alreadyThere == 7)
    }

    @Test("a database of many pages is read whole, and the newest of it are kept")
    func manyPages() async throws {
        let path = Self.fixtures + "/cliphist/db-many"
        let expected = ImportHome.Summary(read: 3_000, added: 200, leftOut: 2_800)
        #expect(try await home.importing("cliphist", path) == expected)
        let texts = try home.table().map { $0.contents }
        func text(_ index: Int) -> String {
            let letter = String(UnicodeScalar(UInt8(97 + index % 26)))
            return "text/plain=\"line " + String(repeating: "x", count: index % 90) + letter + "\(index)\""
        }
        #expect(texts == (2_800..<3_000).reversed().map(text))
        let again = ImportHome.Summary(read: 3_000, alreadyThere: 200, leftOut: 2_800)
        #expect(try await home.importing("cliphist", path) == again)
        #expect(try home.table().map { $0.contents } == texts)
    }

    @Test("with the newer meta page torn, the database is read as before its last transaction")
    func tornMeta() throws {
        let path = Self.fixtures + "/cliphist/db"
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let page = Int(bytes[24]) | Int(bytes[25]) << 8
        let newer = bytes[page + 64] > bytes[64] ? page : 0
        bytes[newer + 40] ^= 1
        let copy = home.home.path + "/db"
        try Data(bytes).write(to: URL(filePath: copy))
        let items = try ImportTool.cliphist.read(copy).items
        #expect(items.count == 10)
        #expect(items.contains { $0.offer.data.first?.data == Data("removed again".utf8) })
    }

    @Test("a page that leads back to itself is damage, not a loop")
    func cycle() throws {
        let path = Self.fixtures + "/cliphist/db-many"
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        var branches = 0
        for start in stride(from: 0, to: bytes.count, by: 4_096)
        where bytes[start + 8] == 1 && bytes[start + 9] == 0 {
            branches += 1
            let last = start + 16 + 16 * (Int(bytes[start + 10]) - 1)
            bytes.replaceSubrange(last + 8..<last + 16, with: bytes[start..<start + 8])
        }
        #expect(branches > 0)
        let copy = home.home.path + "/db"
        try Data(bytes).write(to: URL(filePath: copy))
        #expect {
            try ImportTool.cliphist.read(copy)
        } throws: {
            ($0 as? ImportError)?.reason.contains("damaged") == true
        }
    }

    @Test(
        "every item of CopyQ is imported in its order and with its pin, once",
        arguments: ["copyq_tab_JmNsaXBib2FyZA==.dat", "export.cpq"])
    func copyq(file: String) async throws {
        let path = Self.fixtures + "/copyq/" + file
        let skipped = [
            "has no type that is kept": 1, "has the ignored type application/x-copyq-secret": 1, "only white space": 1,
        ]
        #expect(try await home.importing("copyq", path) == .init(read: 11, added: 8, skipped: skipped))
        let table = try home.table()
        #expect(
            table.map { $0.contents } == [
                #"text/plain="newest text""#,
                #"text/plain="Grüße, 世界" text/uri-list="file:///srv/example/a%20file.txt""#,
                #"text/plain="noted text""#, #"text/plain="tagged text""#,
                #"text/plain="pinned text""#, "image/png=99 bytes",
                #"text/html="<p>bold <b>text</b></p>" text/plain="bold text""#,
                #"text/plain="plain text of the first item""#,
            ])
        #expect(table.filter { $0.contains(" ×1 * ") }.count == 1)
        #expect(table[4].contains(" ×1 * "))
        #expect(try await home.importing("copyq", path) == .init(read: 11, alreadyThere: 8, skipped: skipped))
        #expect(try home.table() == table)
    }

    @Test("of data in files of their own, only such as CopyQ writes are read")
    func dataFiles() throws {
        let text = "kept in a file of its own"
        // SHA-256 of "copyq_salt" and the text.
        let name = "7b8c23b3e15fa608/9cc1cdf9154736dc/08543fdf6c05bd15/d0ba6296f14103b3"
        let file = try home.home.file("items/\(name).dat", text)
        let other = try home.home.file(".ssh/id_example", "not for a history")
        let tab = URL(filePath: home.home.path + "/tab.dat")
        try Self.tab([("8plain", "inside"), ("0FILE:text/html", file)]).write(to: tab)
        let items = try ImportTool.copyq.read(tab.path).items
        #expect(items.map { $0.offer.data.map(\.data) } == [[Data("inside".utf8), Data(text.utf8)]])
        try Self.tab([("0FILE:text/plain", other)]).write(to: tab)
        let read = try ImportTool.copyq.read(tab.path)
        #expect(read.items.isEmpty)
        #expect(read.unread == ["its data file is missing or cannot be read": 1])
    }

    /// A tab with one item.
    private static func tab(_ parts: [(type: String, data: String)]) -> Data {
        func number(_ value: Int) -> Data {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Data($0) }
        }
        var bytes = number(1) + number(-2) + number(parts.count)
        for part in parts {
            bytes += number(2 * part.type.utf16.count)
            for unit in part.type.utf16 { bytes += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
            bytes += [0] + number(part.data.utf8.count) + Data(part.data.utf8)
        }
        return bytes
    }
}

extension String {
    /// What follows the other columns in a row of `ImportHome.table`.
    fileprivate var contents: String {
        String(split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)[5])
    }
}
