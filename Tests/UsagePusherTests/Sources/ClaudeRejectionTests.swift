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
        let refused = try claudeProvider(home)
        #expect(refused.primary?.usedPercent == 100)
        #expect(refused.primary?.resetsAt == utc("2026-09-18T14:10:00Z"))
        #expect(refused.secondary?.usedPercent == 41.2)
        #expect(try claudeProvider(home, at: utc("2026-09-18T14:10:01Z")).primary == nil)
        let window = "\"five_hour\":{\"used_percentage\":3,\"resets_at\":1789740600}"
        try store.save(statusline: statusline(session: "s", window), at: sampleNow)
        #expect(try claudeProvider(home).primary?.usedPercent == 3)
    }

    private func rejection(_ line: String) -> LimitReading? {
        ClaudeRejection.reading(line: Data(line.utf8), origin: LimitReading.Origin(path: "/t", offset: 0))
    }

    @Test("rejections are read by week, by model and in the oldest text form, but not for credits")
    func refusalForms() throws {
        let limit = { (type: String) in
            rejection(refusal("2026-09-18T11:50:00Z", quota(type, "1790006400")))?.limit
        }
        #expect(limit("seven_day") == "weekly")
        #expect(limit("seven_day_opus") == "Opus weekly")
        #expect(limit("overage") == nil)
        // The name of a field is no model's.
        #expect(limit("seven_day_overage_included") == nil)
        #expect(rejection(refusal("2026-09-18T11:50:00Z", "")) == nil)
        let scoped =
            ",\"quotaLimits\":{\"status\":\"rejected\",\"rateLimitType\":\"seven_day_overage_included\","
            + "\"scope\":{\"model\":{\"display_name\":\"Fable\"}},\"resetsAt\":1790006400}"
        #expect(rejection(refusal("2026-09-18T11:50:00Z", scoped))?.label == "Fable")
        let older = { (content: String, flag: Bool) in
            "{\"timestamp\":\"2026-09-18T11:50:00Z\",\"isApiErrorMessage\":\(flag),"
                + "\"message\":{\"content\":\(content)}}"
        }
        let words = "\"Claude AI usage limit reached|1789740600\""
        #expect(rejection(older(words, true))?.limit == "session")
        let block = rejection(older("[{\"type\":\"text\",\"text\":\(words)}]", true))
        #expect(block?.windows.first?.usedPercent == 100)
        #expect(rejection(older("\"limit reached|1790006400\"", true))?.limit == "weekly")
        #expect(rejection(older("\"limit reached|\"", true)) == nil)
        #expect(rejection(older(words, false)) == nil)
    }

    @Test(
        "a rejection in words is read with its zone, as the next such time after its row",
        arguments: [
            ("session limit · resets 5:40pm (Europe/Madrid)", "session", "2026-09-18T15:40:00Z"),
            ("session limit · resets 1:30pm (Europe/Madrid)", nil, nil),
            ("weekly limit · resets 1:30pm (Europe/Madrid)", "weekly", "2026-09-19T11:30:00Z"),
            ("session limit ∙ resets 2pm (UTC)", "session", "2026-09-18T14:00:00Z"),
            ("weekly limit · resets Sep 21, 2am (Europe/Madrid)", "weekly", "2026-09-21T00:00:00Z"),
            ("Opus limit · resets Sep 21 at 2am (Asia/Tokyo)", "Opus weekly", "2026-09-20T17:00:00Z"),
            ("session limit · resets 5:40pm", nil, nil),
            ("session limit · resets 5:40pm (Nowhere/Town)", nil, nil),
            ("session limit · resets 25pm (UTC)", nil, nil),
            ("spending limit · resets 5pm (UTC)", nil, nil),
            ("weekly limit · resets Foo 21, 2am (UTC)", nil, nil),
        ] as [(String, String?, String?)])
    func inWords(text: String, limit: String?, reset: String?) throws {
        let line =
            "{\"timestamp\":\"2026-09-18T11:50:00Z\",\"isApiErrorMessage\":true,\"message\":"
            + "{\"content\":[{\"type\":\"text\",\"text\":\"You've hit your \(text)\"}]}}"
        let found = rejection(line)
        #expect(found?.limit == limit)
        #expect(found?.windows.first?.resetsAt == reset.map(utc))
    }

    @Test("a rejection deep in a transcript is found, and unchanged files are read once")
    func cost() throws {
        let home = try SampleHome()
        let filler = Data(repeating: UInt8(ascii: "x"), count: 8 * 1_048_576)
        let line = Data((refusal("2026-09-18T11:50:00Z", quota("five_hour", "1789740600")) + "{}\n").utf8)
        try home.write(Self.transcript, line + filler + Data("\n".utf8))
        var source = ClaudeSource()
        var first = stillBudget()
        #expect(
            source.read(in: home.environment(), at: sampleNow, budget: &first).provider?.primary?.usedPercent == 100)
        var second = stillBudget()
        _ = source.read(in: home.environment(), at: sampleNow, budget: &second)
        #expect(second.bytesRead == 0)
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
        #expect(reading.provider?.primary?.usedPercent == 23.5)
        #expect(budget.filesOpened == 1)
    }

    @Test("a user message about limits is not a rejection")
    func quoted() throws {
        let home = try SampleHome(copying: "claude/usual")
        try home.write(
            Self.transcript,
            "{\"type\":\"user\",\"timestamp\":\"2026-09-18T11:50:00Z\",\"quotaLimits\":{\"status\":"
                + "\"rejected\",\"rateLimitType\":\"five_hour\",\"resetsAt\":1789740600},"
                + "\"message\":{\"role\":\"user\",\"content\":\"limit reached|1789740600\"}}\n")
        #expect(try claudeProvider(home).primary?.usedPercent == 22)
    }
}
