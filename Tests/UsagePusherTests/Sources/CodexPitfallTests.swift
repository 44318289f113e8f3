import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Misleading Codex lines")
struct CodexPitfallTests {
    private let home: SampleHome

    init() throws { home = try SampleHome() }

    private func reading(_ limits: String, at time: String = "2026-09-18T11:00:00Z") throws -> SourceReading {
        try home.write(CodexLines.name(0), CodexLines.row(time, limits))
        return home.reading(of: CodexSource())
    }

    @Test("a percent that cannot be is dropped and named among the sources", arguments: ["-3", "1001", "1e300"])
    func impossiblePercent(_ percent: String) throws {
        let reading = try reading(
            "{\"primary\":\(CodexLines.window(percent, 300, CodexLines.session)),"
                + "\"secondary\":\(CodexLines.window("9", 10_080, CodexLines.weekly))}")
        #expect(reading.percents == [9])
        #expect(reading.findings.contains { $0.detail.hasPrefix("dropped, since") })
    }

    @Test(
        "what is no number is no percent",
        arguments: ["true", "null", "\"\"", "\"NaN\"", "1e400", "[1]", "9223372036854775808"])
    func noPercent(_ text: String) throws {
        let window = CodexLines.window(text, 300, CodexLines.session)
        let reading = try reading("{\"primary\":\(window),\"credits\":{\"has_credits\":true,\"balance\":\"1\"}}")
        #expect(reading.percents == [])
    }

    @Test("implausible resets are ignored", arguments: ["9223372036854775808", "253402300799", "1799740900", "-1"])
    func resets(_ reset: String) throws {
        let window = "{\"used_percent\":5,\"window_minutes\":300,\"resets_at\":\(reset)}"
        let reading = try reading("{\"primary\":\(window),\"credits\":{\"has_credits\":true,\"balance\":\"1\"}}")
        #expect(reading.provider?.credits != nil && reading.provider?.primary?.resetsAt == nil)
    }

    @Test("a window past its reset is left out, and a reading stays as old as it is")
    func expired() throws {
        try home.write(CodexLines.name(0), CodexLines.usual("2026-09-18T06:00:00Z", 80, 54, session: sampleNow))
        for (now, percents) in [(sampleNow, [54.0]), (utc("2026-09-30T00:00:00Z"), [])] {
            let card = try home.card(of: CodexSource(), at: now)
            #expect(card.percents == percents && card.primary == nil && !card.isError)
            #expect(card.lastUpdated == utc("2026-09-18T06:00:00Z"))
        }
    }

    @Test("a row without limits is no later reading")
    func silentRow() throws {
        let rows = CodexLines.usual("2026-09-18T11:00:00Z", 31, 54) + CodexLines.row("2026-09-18T11:40:00Z", "null")
        try home.write(CodexLines.name(0), rows)
        #expect(try home.card(of: CodexSource()).lastUpdated == utc("2026-09-18T11:00:00Z"))
    }

    @Test("a line from the future counts as observed now, and does not keep older files from being read")
    func futureClock() throws {
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T12:20:00Z", 36, 54))
        #expect(try home.card(of: CodexSource()).lastUpdated == sampleNow)
        try home.write(CodexLines.name(1), CodexLines.usual("2027-09-18T11:00:00Z", 99, 98))
        let earlier = utc("2026-09-16T11:00:00Z")
        try home.write(CodexLines.name(2), CodexLines.usual("2026-09-16T11:00:00Z", 36, 55), modified: earlier)
        let card = try home.card(of: CodexSource())
        #expect(card.secondary?.usedPercent == 55 && card.lastUpdated == earlier)
    }

    @Test(
        "the newer of the rollout's plan and the token's plan is shown",
        arguments: [("2026-09-16T12:00:00Z", "Plus"), ("2026-09-18T11:30:00Z", "Team")])
    func plan(refreshed: String, name: String) throws {
        let claims = Data("{\"https://api.openai.com/auth\":{\"chatgpt_plan_type\":\"team\"}}".utf8)
            .base64EncodedString().replacing("=", with: "")
        try home.write(CodexLines.name(0), CodexLines.usual("2026-09-18T11:00:00Z", 1, 2))
        try home.write(
            ".codex/auth.json",
            #"{"auth_mode":"chatgpt","tokens":{"id_token":"a.\#(claims).b"},"last_refresh":"\#(refreshed)"}"#)
        #expect(try home.card(of: CodexSource()).loginMethod == name)
    }

    @Test(
        "plans have display names",
        arguments: [
            ("prolite", "Pro 5x"), ("pro", "Pro 20x"), ("enterprise_cbp_usage_based", "Enterprise"),
            ("some_new_plan", "Some New Plan"), ("unknown", nil), ("<b>", nil),
        ])
    func planNames(_ plan: String, _ name: String?) { #expect(CodexPlan.displayName(plan) == name) }

    @Test("a session in both directories is read once, from sessions")
    func archived() throws {
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 30, 40))
        let archived = ".codex/archived_sessions/" + (CodexLines.name(1) as NSString).lastPathComponent
        try home.write(archived, CodexLines.usual("2026-09-18T11:30:00Z", 90, 90))
        var source = CodexSource()
        #expect(source.read(home).percents == [30, 40])
        // It was archived and grows there.
        try home.touch(archived, sampleNow + 60)
        #expect(source.read(home, at: sampleNow + 60).percents == [90, 90])
    }

    @Test("files are ordered by modification time, not by their directory's date")
    func dayDirectories() throws {
        try home.write(CodexLines.name(1, day: "2026/08/01"), CodexLines.usual("2026-09-18T11:00:00Z", 30, 40))
        #expect(home.reading(of: CodexSource()).percents == [30, 40])
    }
}
