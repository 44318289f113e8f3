import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import UsagePusher

/// Kiro and Codebuff.
@Suite("Credits")
struct CreditTests {
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    private static let chat = ".config/manicode/projects/app/chats/2026-09-17T10-00-00.000Z/"

    private static func messages(_ credits: Double...) -> String {
        "["
            + credits.enumerated().map {
                #"{"id": "ai-\#($0.offset)", "variant": "ai", "credits": \#($0.element)}"#
            }.joined(separator: ", ") + "]"
    }

    @Test("a chat that goes on is read again, and one that is gone does not count")
    func changes() throws {
        let path = Self.chat + CodebuffChat.fileName
        try home.write(path, Self.messages(1.5))
        var source = CodebuffSource()
        func status() -> String? {
            source.read(home).provider?.statusMessage
        }
        #expect(status()?.hasPrefix("1.5 credits in 1 turn in 30 days") == true)
        try home.write(path, Self.messages(1.5, 2.25))
        #expect(status()?.hasPrefix("3.75 credits in 2 turns") == true)
        try home.remove(path)
        #expect(status() == nil)
    }

    @Test("more files than one pass opens are read by the next ones")
    func slices() throws {
        for index in 0..<450 {
            try home.write(
                ".config/Kiro/User/globalStorage/kiro.kiroagent/h/s/e\(index)",
                #"{"startTime": 1789639200, "usageSummary": [{"usage": 1}]}"#)
        }
        var source = KiroSource()
        var passes = 1
        var reading = source.read(home)
        while reading.isPartial, passes < 10 {
            passes += 1
            reading = source.read(home)
        }
        #expect(passes == 3)
        #expect(reading.provider?.statusMessage?.hasPrefix("450 credits in 450 turns") == true)
    }

    @Test("a database that its tool is writing keeps its turns, and is read when it is not")
    func inUse() throws {
        let home = try SampleHome(copying: "kiro/usual")
        let database = ".local/share/kiro-cli/data.sqlite3"
        var quiet = KiroSource()
        let whole = quiet.read(in: home.environment(), at: sampleNow).provider?.statusMessage
        try home.write(database + "-journal", "x")
        var source = KiroSource()
        let first = source.read(home)
        #expect(first.isPartial && first.provider?.statusMessage != whole)
        let during = quiet.read(in: home.environment(), at: sampleNow)
        #expect(!during.isPartial && during.provider?.statusMessage == whole)
        try home.touch(database, sampleNow - 60)
        let changed = quiet.read(in: home.environment(), at: sampleNow)
        let status = try #require(changed.provider?.statusMessage)
        #expect(changed.isPartial && status.hasPrefix(whole ?? "-") && status != whole)
        // As it was when nothing of it could be read.
        try home.touch(database, sampleNow)
        try home.remove(database + "-journal")
        let later = source.read(home)
        #expect(!later.isPartial && later.provider?.statusMessage == whole)
    }

    @Test("turns that are only in the log beside a database are found")
    func log() throws {
        let path = home.path(".local/share/kiro-cli/data.sqlite3")
        try home.createDirectory(".local/share/kiro-cli")
        let writer = try WrittenDatabase(
            path, "PRAGMA journal_mode = WAL",
            "CREATE TABLE conversations_v2 (conversation_id TEXT, updated_at INTEGER, value TEXT)")
        func insert(_ id: String) throws {
            try writer.execute(
                """
                INSERT INTO conversations_v2 VALUES ('\(id)', 1789639200000,
                '{"user_turn_metadata":{"usage_info":[{"value":1,"unit":"credit"}]}}')
                """)
        }
        var source = KiroSource()
        func turns() -> Int {
            let status = source.read(home).provider?.statusMessage
            return Int(status?.split(separator: " ").first ?? "0") ?? -1
        }
        try insert("a")
        #expect(turns() == 1)
        let status = try FileStatus(path: path)
        try insert("b")
        #expect(try FileStatus(path: path) == status)
        #expect(turns() == 2)
        #expect(source.watchedPaths(in: home.environment()).map(\.path).contains(path + "-wal"))
    }

    @Test("a file that grew beyond what a pass may read keeps its turns, as does one that cannot be read")
    func overBudget() throws {
        let path = Self.chat + CodebuffChat.fileName
        try home.write(path, Self.messages(1.5))
        var source = CodebuffSource()
        _ = source.read(home)
        try home.write(path, Self.messages(1.5, 2.25))
        var limits = ScanLimits()
        limits.byteCount = 10
        let partial = source.read(home, limits: limits)
        #expect(partial.isPartial)
        #expect(partial.provider?.statusMessage?.hasPrefix("1.5 credits") == true)
        #expect(!partial.findings.contains { $0.isError })
        limits.byteCount = ScanLimits().byteCount
        limits.documentByteCount = 10
        let large = source.read(home, limits: limits)
        #expect(large.provider?.statusMessage?.hasPrefix("1.5 credits") == true)
        #expect(large.findings.contains { $0.isError })
        let whole = source.read(home)
        #expect(whole.provider?.statusMessage?.hasPrefix("3.75 credits") == true)
    }

    @Test("where there are more directories than a pass lists, the files that it found are read")
    func manyDirectories() throws {
        try home.write(Self.chat + CodebuffChat.fileName, Self.messages(1.5))
        for index in 0..<30 { try home.createDirectory(".config/manicode/projects/a\(index)") }
        var limits = ScanLimits()
        limits.depth = 3
        try home.createDirectory(".config/manicode/projects/app/x/1/2/3/4/5")
        var source = CodebuffSource()
        let reading = source.read(home, limits: limits)
        #expect(reading.isPartial)
        #expect(reading.provider?.statusMessage?.hasPrefix("1.5 credits") == true)
    }

    @Test("turns of more than 30 days ago, and of the future, are not added up")
    func days() {
        var uses = CreditUses()
        let times = ["2026-08-01T00:00:00Z", "2026-09-17T00:00:00Z", "2027-01-01T00:00:00Z"]
        for (index, time) in times.enumerated() {
            guard let use = CreditUse(id: UInt64(index), time: utc(time), credits: 1) else { continue }
            uses.add(use)
        }
        let start = sampleNow.addingTimeInterval(-30 * 86_400)
        #expect(uses.sum(after: start, until: sampleNow).turnCount == 1)
    }

    @Test(
        "amounts have two digits where they need them",
        arguments: [
            (0.25, "0.25"), (12, "12"), (0.5, "0.5"), (0.05, "0.05"), (1e6, "1000000"),
        ])
    func amounts(_ credits: Double, _ text: String) {
        let sum = CreditUses.Sum(credits: credits, turnCount: 2)
        #expect(CreditFormatter.used(sum) == "\(text) credits in 2 turns in 30 days")
    }

    @Test("neither limits nor what is left, dollars or tokens are made up")
    func nothingElse() throws {
        let home = try SampleHome(copying: "kiro/usual")
        var source = KiroSource()
        let card = try #require(source.read(home).provider)
        #expect(card.windows.isEmpty && card.credits == nil && card.budget == nil)
        #expect(card.costSummary == nil && card.statusMessage?.contains("$") == false)
    }
}
