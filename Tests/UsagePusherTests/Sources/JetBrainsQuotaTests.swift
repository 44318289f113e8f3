import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Quota of JetBrains AI")
struct JetBrainsQuotaTests {
    private static let name = ".config/JetBrains/IntelliJIdea2026.1/options/AIAssistantQuotaManager2.xml"

    private func read(_ home: SampleHome, at now: Date = sampleNow) -> SourceReading {
        var source = JetBrainsSource()
        return source.read(in: home.environment(), at: now)
    }

    @Test("what an IDE has written", arguments: shapes)
    func shape(_ shape: LogShape) throws {
        let home = try SampleHome()
        let options = shape.log.split(separator: "\n").map {
            let parts = $0.split(separator: " ", maxSplits: 1)
            let value = parts[1].replacing("\"", with: "&quot;").replacing(",", with: ",&#10;")
            return "<option name=\"\(parts[0])\" value=\"\(value)\" />"
        }
        try home.write(Self.name, "<application>\(options.joined())</application>")
        #expect(read(home).provider.summary == shape.reading)
    }

    @Test("of several IDEs the one whose file was written last counts")
    func severalIDEs() throws {
        let home = try SampleHome(copying: "jetbrains/usual")
        let other = Self.name.replacing("IntelliJIdea2026.1", with: "PyCharm2025.3")
        try home.touch(other, sampleNow - 86_400)
        let card = try #require(read(home).provider)
        #expect(card.percents == [37.5])
        #expect(card.primary?.windowMinutes == 43_200)
        #expect(card.primary?.resetsAt == utc("2026-10-02T09:15:00Z"))
        #expect(card.lastUpdated == sampleNow)
        let quota = try String(contentsOfFile: home.path(Self.name), encoding: .utf8)
        try home.write(
            other, quota.replacing("375000.0", with: "500000.0"), modified: sampleNow - 60)
        #expect(read(home).percents == [37.5])
        try home.touch(Self.name, sampleNow - 120)
        #expect(read(home).percents == [50])
    }

    @Test("the file of an IDE is watched, and so is the directory in which new ones appear")
    func watched() throws {
        let home = try SampleHome(copying: "jetbrains/usual")
        let paths = JetBrainsSource().watchedPaths(in: home.environment())
        #expect(paths.contains(WatchedPath(home.path(Self.name))))
        #expect(paths.contains(WatchedPath(home.path(".config/JetBrains"))))
    }

    private static let tariff =
        #"{"type":"Known","next":"2026-10-02T09:15:00.989Z","tariff":{"amount":"1000000","duration":"PT720H"}}"#

    private static let shapes = LogShape.table(
        #"""
        # a quota that renews is a window of the length of its tariff -> 43200 min 37.5 until 02 09:15
        quotaInfo {"type":"Available","current":"375000.0","maximum":"1000000","until":"2026-10-02T09:15:00Z"}
        nextRefill \#(tariff)
        # what was bought besides is not counted -> 43200 min 90 until 02 09:15
        quotaInfo {"current":"1350000","maximum":"5498808","tariffQuota":{"current":"900000","maximum":"1000000"},"topUpQuota":{"current":"450000","maximum":"4498808"}}
        nextRefill \#(tariff)
        # an unknown refill leaves the end of the quota -> 25 until 02 09:15
        quotaInfo {"current":250000,"maximum":"1000000","until":"2026-10-02T09:15:00Z"}
        nextRefill {"type":"Unknown"}
        # a length in days is read like one in hours -> weekly 25 until 20 00:00
        quotaInfo {"current":1,"maximum":4}
        nextRefill {"next":"2026-09-20T00:00:00Z","tariff":{"duration":"P7D"}}
        # a quota without a maximum is no reading -> nothing
        quotaInfo {"type":"Unlimited","current":"12"}
        """#)
}
