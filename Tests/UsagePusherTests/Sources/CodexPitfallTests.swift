import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Misleading Codex lines")
struct CodexPitfallTests {
    private func provider(
        _ lines: String..., account: String? = nil, at now: Date = sampleNow
    ) throws -> ProviderUsageSnapshot {
        let home = try SampleHome()
        for (index, text) in lines.enumerated() {
            try home.write(CodexLines.name(index), text, modified: now)
        }
        if let account { try home.write(".codex/auth.json", account) }
        var source = CodexSource()
        return try #require(source.read(in: home.environment(), at: now).provider)
    }

    @Test("a window missing from the newest row is gone, and a row without limits clears nothing")
    func sparse() throws {
        let later = CodexLines.row(
            "2026-09-18T11:30:00Z",
            "{\"limit_id\":\"codex\","
                + "\"primary\":\(CodexLines.window("40", 300, CodexLines.session)),"
                + "\"secondary\":null,\"plan_type\":null,\"credits\":null}")
        let empty = CodexLines.row("2026-09-18T11:40:00Z", "null")
        let provider = try provider(CodexLines.usual("2026-09-18T11:00:00Z", 31, 54) + later + empty)
        #expect(provider.windows.map(\.usedPercent) == [40])
        #expect(provider.loginMethod == "Plus")
        #expect(provider.lastUpdated == utc("2026-09-18T11:30:00Z"))
    }

    @Test("a later reset replaces the window even with a smaller percent")
    func resetCredit() throws {
        let provider = try provider(
            CodexLines.usual("2026-09-18T11:00:00Z", 95, 54)
                + CodexLines.usual("2026-09-18T11:10:00Z", 2, 54, session: utc("2026-09-18T16:10:00Z")))
        #expect(provider.primary?.usedPercent == 2)
        #expect(provider.primary?.resetsAt == utc("2026-09-18T16:10:00Z"))
    }

    @Test("the newest row counts even when its percent fell and its reset moved back")
    func grant() throws {
        let reset = CodexLines.session.addingTimeInterval(-1_800)
        let provider = try provider(
            CodexLines.usual("2026-09-18T11:00:00Z", 96, 54)
                + CodexLines.usual("2026-09-18T11:10:00Z", 31, 12, session: reset))
        #expect(provider.windows.map(\.usedPercent) == [31, 12])
        #expect(provider.primary?.resetsAt == reset)
    }

    @Test("without lengths the first window of a row is the session and the second the week")
    func withoutLengths() throws {
        let window = { (percent: Int, reset: Date) in
            "{\"used_percent\":\(percent),\"resets_at\":\(Int(reset.timeIntervalSince1970))}"
        }
        let provider = try provider(
            CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":\(window(7, CodexLines.session))," + "\"secondary\":\(window(8, CodexLines.weekly))}"))
        #expect(provider.primary?.windowMinutes == 300)
        #expect(provider.secondary?.windowMinutes == 10_080)
        #expect(provider.windows.map(\.usedPercent) == [7, 8])
    }

    @Test("copies of a parent's rows count only with a fork's marks, and later rows always count")
    func copies() throws {
        let meta = { (fields: String) in
            "{\"timestamp\":\"2026-09-18T11:50:00Z\",\"type\":\"session_meta\","
                + "\"payload\":{\"id\":\"x\"\(fields)}}\n"
        }
        let own = CodexLines.usual("2026-09-18T11:30:00Z", 36, 55)
        let copy = CodexLines.usual("2026-09-18T11:50:01Z", 12, 50)
        let marks = [
            ",\"forked_from_id\":\"y\"", ",\"subagent_history_start_ordinal\":3",
            ",\"source\":{\"subagent\":{\"thread_spawn\":{\"parent_thread_id\":\"y\"}}}",
        ]
        for mark in marks {
            #expect(try provider(own, meta(mark) + copy).primary?.usedPercent == 36, "\(mark)")
            let later = CodexLines.usual("2026-09-18T11:50:03Z", 20, 51)
            #expect(try provider(own, meta(mark) + copy + later).primary?.usedPercent == 20, "\(mark)")
        }
        let parent = meta("").replacing("\"x\"", with: "\"y\"")
        #expect(try provider(own, meta("") + parent + copy).primary?.usedPercent == 36)
        #expect(try provider(own, meta("") + meta("") + copy).primary?.usedPercent == 12)
        #expect(try provider(own, meta("") + copy).primary?.usedPercent == 12)
    }

    @Test("credits that are used up are a status with the age of its row")
    func creditsUsedUp() throws {
        let account = "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"account_id\":\"a\",\"id_token\":\"x.e30.y\"}}"
        let provider = try provider(
            CodexLines.row(
                "2026-09-18T10:00:00Z",
                "{\"limit_id\":\"premium\",\"primary\":null,\"secondary\":null,"
                    + "\"credits\":{\"has_credits\":false,\"unlimited\":false,\"balance\":\"0\"},"
                    + "\"plan_type\":\"business\"}"), account: account)
        #expect(provider.windows.isEmpty)
        #expect(provider.statusMessage == "Your workspace credits are used up")
        #expect(provider.loginMethod == "Business")
        #expect(provider.lastUpdated == utc("2026-09-18T10:00:00Z"))
    }

    @Test("an individual limit is a window beside the others")
    func individualLimit() throws {
        let provider = try provider(
            CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":\(CodexLines.window("5", 300, CodexLines.session)),"
                    + "\"individual_limit\":{\"limit\":\"200\",\"used\":\"50\","
                    + "\"resets_at\":1790769600}}"))
        #expect(provider.windows.map(\.usedPercent) == [5, 25])
        #expect(provider.windows.last?.label == "Individual limit")
        #expect(provider.budget?.limitAmount == 200)
    }

    @Test("a percent that cannot be is dropped and named among the sources")
    func impossiblePercent() throws {
        let home = try SampleHome()
        for percent in ["-3", "1001", "1e300"] {
            try home.write(
                CodexLines.name(0),
                CodexLines.row(
                    "2026-09-18T11:00:00Z",
                    "{\"primary\":\(CodexLines.window(percent, 300, CodexLines.session)),"
                        + "\"secondary\":\(CodexLines.window("9", 10_080, CodexLines.weekly))}"))
            var source = CodexSource()
            let reading = source.read(in: home.environment(), at: sampleNow)
            #expect(reading.provider?.windows.map(\.usedPercent) == [9])
            #expect(reading.findings.contains { $0.detail.hasPrefix("dropped, since") })
        }
    }

    @Test("a window past its reset is left out, and the status says why")
    func expired() throws {
        let home = CodexLines.usual("2026-09-18T06:00:00Z", 80, 54, session: sampleNow)
        let provider = try provider(home)
        #expect(provider.primary == nil)
        #expect(provider.windows.map(\.usedPercent) == [54])
        #expect(provider.statusMessage == "The session limit has been reset since the last reading")
        #expect(provider.lastUpdated == utc("2026-09-18T06:00:00Z"))
        let later = try self.provider(home, at: utc("2026-09-30T00:00:00Z"))
        #expect(later.windows.isEmpty)
        #expect(later.lastUpdated == utc("2026-09-18T06:00:00Z"))
        #expect(!later.isError)
    }

    @Test("a kind of window missing from newer lines is not reported as reset")
    func formerPlan() throws {
        let weekly = CodexLines.row(
            "2026-09-18T11:00:00Z",
            "{\"primary\":\(CodexLines.window("5", 10_080, CodexLines.weekly)),\"secondary\":null}")
        let provider = try provider(
            CodexLines.usual("2026-09-17T10:00:00Z", 80, 1, session: utc("2026-09-17T12:00:00Z")) + weekly)
        #expect(provider.statusMessage == nil)
    }

    @Test("windows are identified by length, not by slot")
    func byLength() throws {
        let swapped = try provider(
            CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":\(CodexLines.window("9", 10_080, CodexLines.weekly)),"
                    + "\"secondary\":\(CodexLines.window("8", 300, CodexLines.session))}"))
        #expect(swapped.windows.map(\.usedPercent) == [8, 9])
        let month = try provider(
            CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":\(CodexLines.window("7", 43_800, utc("2026-10-01T00:00:00Z")))}"))
        #expect(month.primary?.windowMinutes == 43_800)
        #expect(month.secondary == nil)
    }

    @Test("percents may be integers, text or above 100, but not Booleans")
    func numbers() throws {
        for (text, percent) in [("36", 36.0), ("\"41.5\"", 41.5), ("105.25", 105.25)] {
            let line = CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":\(CodexLines.window(text, 300, CodexLines.session))}")
            #expect(try provider(line).primary?.usedPercent == percent)
        }
        for text in ["true", "null", "\"\"", "\"NaN\"", "1e400", "[1]", "9223372036854775808"] {
            let line = CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":\(CodexLines.window(text, 300, CodexLines.session)),"
                    + "\"credits\":{\"has_credits\":true,\"balance\":\"1\"}}")
            #expect(try provider(line).windows.isEmpty)
        }
    }

    @Test("resets in milliseconds are read, implausible ones are ignored")
    func resets() throws {
        let line = { (reset: String) in
            CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"primary\":{\"used_percent\":5,\"window_minutes\":300,\"resets_at\":\(reset)},"
                    + "\"credits\":{\"has_credits\":true,\"balance\":\"1\"}}")
        }
        #expect(try provider(line("1789740900000")).primary?.resetsAt == CodexLines.session)
        for reset in ["9223372036854775808", "253402300799", "1799740900", "-1"] {
            #expect(try provider(line(reset)).primary?.resetsAt == nil)
        }
    }

    @Test("a line from the future counts as observed now")
    func futureClock() throws {
        let provider = try provider(CodexLines.usual("2026-09-18T12:20:00Z", 36, 54))
        #expect(provider.lastUpdated == sampleNow)
        #expect(provider.primary?.usedPercent == 36)
    }

    @Test("a line from the future does not keep older files from being read")
    func futureLineAndOlderFile() throws {
        let home = try SampleHome()
        try home.write(CodexLines.name(1), CodexLines.usual("2027-09-18T11:00:00Z", 99, 98))
        try home.write(
            CodexLines.name(2), CodexLines.usual("2026-09-16T11:00:00Z", 36, 54), modified: utc("2026-09-16T11:00:00Z"))
        var source = CodexSource()
        let provider = source.read(in: home.environment(), at: sampleNow).provider
        #expect(provider?.secondary?.usedPercent == 54)
        #expect(provider?.lastUpdated == utc("2026-09-16T11:00:00Z"))
    }

    @Test("both spellings of a spending limit are read, and an expired one is not shown")
    func spendControl() throws {
        let line = { (reset: Int) in
            CodexLines.row(
                "2026-09-18T11:00:00Z",
                "{\"limitId\":\"premium\",\"spendControl\":{\"reached\":true,\"individualLimit\":"
                    + "{\"limit\":\"10\",\"used\":10,\"resetAt\":\(reset)}},"
                    + "\"credits\":{\"has_credits\":true,\"unlimited\":true,\"balance\":null}}")
        }
        let shown = try provider(line(1_790_769_600))
        #expect(shown.budget?.usedAmount == 10)
        #expect(shown.statusMessage == "Spend limit reached")
        #expect(shown.credits == SyncCredits(unlimited: true))
        #expect(try provider(line(1_789_000_000)).budget == nil)
    }

    @Test("the newer of the rollout's plan and the token's plan is shown")
    func plan() throws {
        let claims = Data("{\"https://api.openai.com/auth\":{\"chatgpt_plan_type\":\"team\"}}".utf8)
            .base64EncodedString().replacing("=", with: "")
        let account = { (refreshed: String) in
            "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"id_token\":\"a.\(claims).b\"},"
                + "\"last_refresh\":\"\(refreshed)\"}"
        }
        let line = CodexLines.usual("2026-09-18T11:00:00Z", 1, 2)
        #expect(try provider(line, account: account("2026-09-16T12:00:00Z")).loginMethod == "Plus")
        #expect(try provider(line, account: account("2026-09-18T11:30:00Z")).loginMethod == "Team")
    }

    @Test("plans have display names")
    func planNames() {
        #expect(CodexPlan.displayName("prolite") == "Pro 5x")
        #expect(CodexPlan.displayName("pro") == "Pro 20x")
        #expect(CodexPlan.displayName("enterprise_cbp_usage_based") == "Enterprise")
        #expect(CodexPlan.displayName("some_new_plan") == "Some New Plan")
        #expect(CodexPlan.displayName("unknown") == nil)
        #expect(CodexPlan.displayName("<b>") == nil)
    }

    @Test("a session in both directories is read once, from sessions")
    func archived() throws {
        let home = try SampleHome()
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 30, 40))
        let name = CodexLines.name(1).split(separator: "/").last.map(String.init) ?? ""
        try home.write(".codex/archived_sessions/" + name, CodexLines.usual("2026-09-18T11:30:00Z", 90, 90))
        var source = CodexSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(reading.provider?.windows.map(\.usedPercent) == [30, 40])
        // It was archived and grows there.
        try home.touch(".codex/archived_sessions/" + name, sampleNow.addingTimeInterval(60))
        let later = source.read(in: home.environment(), at: sampleNow.addingTimeInterval(60))
        #expect(later.provider?.windows.map(\.usedPercent) == [90, 90])
    }

    @Test("files are ordered by modification time, not by their directory's date")
    func dayDirectories() throws {
        let home = try SampleHome()
        try home.write(CodexLines.name(1, day: "2026/08/01"), CodexLines.usual("2026-09-18T11:00:00Z", 30, 40))
        var source = CodexSource()
        #expect(source.read(in: home.environment(), at: sampleNow).provider?.primary != nil)
    }

    @Test("a limit reached in an expired window is no longer reported")
    func reachedAndOver() throws {
        let line = CodexLines.row(
            "2026-09-18T05:00:00Z",
            "{\"primary\":\(CodexLines.window("100", 300, utc("2026-09-18T09:00:00Z"))),"
                + "\"rate_limit_reached_type\":\"rate_limit_reached\"}")
        #expect(try provider(line).statusMessage == "The session limit has been reset since the last reading")
        #expect(try provider(line, at: utc("2026-09-18T08:00:00Z")).statusMessage == "Rate limit reached")
    }
}
