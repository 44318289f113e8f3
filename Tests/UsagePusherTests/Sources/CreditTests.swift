import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import UsagePusher

/// Kiro and Codebuff.
@Suite("Credits")
struct CreditTests {
    private static let chat = ".config/manicode/projects/app/chats/2026-09-17T10-00-00.000Z/"

    private static func messages(_ credits: Double...) -> String {
        "["
            + credits.enumerated().map {
                #"{"id": "ai-\#($0.offset)", "variant": "ai", "credits": \#($0.element)}"#
            }.joined(separator: ", ") + "]"
    }

    @Test("a chat that goes on is read again, and one that is gone does not count")
    func changes() throws {
        let home = try SampleHome()
        let path = Self.chat + CodebuffChat.fileName
        try home.write(path, Self.messages(1.5))
        var source = CodebuffSource()
        func status() -> String? {
            source.read(in: home.environment(), at: sampleNow).provider?.statusMessage
        }
        #expect(status()?.hasPrefix("1.5 credits in 1 turn in 30 days") == true)
        try home.write(path, Self.messages(1.5, 2.25))
        #expect(status()?.hasPrefix("3.75 credits in 2 turns") == true)
        try FileManager.default.removeItem(atPath: home.path(path))
        #expect(status() == nil)
    }

    @Test("more files than one pass opens are read by the next ones")
    func slices() throws {
        let home = try SampleHome()
        for index in 0..<450 {
            try home.write(
                ".config/Kiro/User/globalStorage/kiro.kiroagent/h/s/e\(index)",
                #"{"startTime": 1789639200, "usageSummary": [{"usage": 1}]}"#)
        }
        var source = KiroSource()
        var passes = 1
        var reading = source.read(in: home.environment(), at: sampleNow)
        while reading.isPartial, passes < 10 {
            passes += 1
            reading = source.read(in: home.environment(), at: sampleNow)
        }
        #expect(passes == 3)
        #expect(reading.provider?.statusMessage?.hasPrefix("450 credits in 450 turns") == true)
    }

    @Test("turns of more than 30 days ago, and of the future, are not added up")
    func days() {
        var uses = CreditUses()
        let times = ["2026-08-01T00:00:00Z", "2026-09-17T00:00:00Z", "2027-01-01T00:00:00Z"]
        for (index, time) in times.enumerated() {
            guard let use = CreditUse(id: UInt64(index), time: utc(time), credits: 1) else {
                continue
            }
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
        #expect(CreditText.used(sum) == "\(text) credits in 2 turns in 30 days")
    }

    @Test("KIRO_HOME moves the sessions")
    func variables() throws {
        let home = try SampleHome()
        let environment = home.environment(["KIRO_HOME": "~/k"])
        let paths = KiroSource().watchedPaths(in: environment).map(\.path)
        #expect(paths.first == home.path("k/sessions"))
    }

    @Test("neither limits nor what is left, dollars or tokens are made up")
    func nothingElse() throws {
        let home = try SampleHome(copying: "kiro/usual")
        var source = KiroSource()
        let card = try #require(source.read(in: home.environment(), at: sampleNow).provider)
        #expect(card.windows.isEmpty && card.credits == nil && card.budget == nil)
        #expect(card.costSummary == nil && card.statusMessage?.contains("$") == false)
    }
}
