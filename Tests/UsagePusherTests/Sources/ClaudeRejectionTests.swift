import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Claude's rejections")
struct ClaudeRejectionTests {
    private static let transcript = ".claude/projects/p/s.jsonl"

    @Test("a rejection is 100 % until its reset, or until a newer number of its window")
    func refused() throws {
        let home = try SampleHome(copying: "claude/usual")
        try home.write(
            Self.transcript,
            refusal("2026-09-18T11:50:00Z", quota("five_hour", "1789740600000")) + "{\"type\":\"summary\"}\n")
        let store = ClaudeStatuslineStore(home.environment())
        try store.save(statusline: try statusline("full"), at: utc("2026-09-18T11:40:00Z"))
        let refused = try home.card(of: ClaudeSource())
        #expect(refused.primary?.usedPercent == 100)
        #expect(refused.primary?.resetsAt == utc("2026-09-18T14:10:00Z"))
        #expect(refused.secondary?.usedPercent == 41.2)
        #expect(try home.card(of: ClaudeSource(), at: utc("2026-09-18T14:10:01Z")).primary == nil)
        let window = "\"five_hour\":{\"used_percentage\":3,\"resets_at\":1789740600}"
        try store.save(statusline: statusline(session: "s", window), at: sampleNow)
        #expect(try home.card(of: ClaudeSource()).primary?.usedPercent == 3)
    }

    @Test("a rejection deep in a transcript is found, and unchanged files are read once")
    func cost() throws {
        let home = try SampleHome()
        let filler = Data(repeating: UInt8(ascii: "x"), count: 8 * 1_048_576)
        let line = Data((refusal("2026-09-18T11:50:00Z", quota("five_hour", "1789740600")) + "{}\n").utf8)
        try home.write(Self.transcript, line + filler + Data("\n".utf8))
        var source = ClaudeSource()
        for isFirst in [true, false] {
            var budget = stillBudget()
            let reading = source.read(in: home.environment(), at: sampleNow, budget: &budget)
            #expect(reading.provider?.primary?.usedPercent == 100 && (budget.bytesRead > 0) == isFirst)
        }
    }

    @Test("transcripts from before the known numbers are not read")
    func horizon() throws {
        let home = try SampleHome()
        try home.write(
            Self.transcript, refusal("2026-09-18T09:50:00Z", quota("five_hour", "1789740600")),
            modified: utc("2026-09-18T09:50:00Z"))
        try ClaudeStatuslineStore(home.environment())
            .save(statusline: try statusline("full"), at: utc("2026-09-18T11:40:00Z"))
        var source = ClaudeSource()
        var budget = stillBudget()
        let reading = source.read(in: home.environment(), at: sampleNow, budget: &budget)
        #expect(reading.provider?.primary?.usedPercent == 23.5 && budget.filesOpened == 1)
    }
}
