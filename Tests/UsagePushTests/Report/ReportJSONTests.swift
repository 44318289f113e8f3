import Foundation
import StoreTestSupport
import TestSupport
import Testing

@Suite("Reports as ccusage's JSON", .temporaryHome, .timeLimit(.minutes(5)))
struct ReportJSONTests {
    private func decode<Document: Decodable>(
        _ type: Document.Type, _ home: ReportHome, _ arguments: String...
    ) async throws -> Document {
        let outcome = try await home.report(arguments + ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(type, from: outcome.output)
    }

    @Test("Claude's own reports have its members")
    func claude() async throws {
        let home = try ReportHome()
        try home.reply("2026-09-17T23:50:00Z", id: "a")
        try home.reply("2026-09-18T00:10:00Z", id: "b", model: "claude-sonnet-5", session: "s2")
        func report(_ arguments: String...) async throws -> Ccusage.Report {
            let outcome = try await home.report(arguments + ["--provider", "claude", "--tz", "UTC", "--json"])
            return try JSONDecoder().decode(Ccusage.Report.self, from: outcome.output)
        }
        let daily = try await report("daily")
        #expect(daily.daily?.map(\.date) == ["2026-09-17", "2026-09-18"])
        #expect(daily.daily?[0].modelBreakdowns[0].modelName == "claude-opus-5")
        // 1,000 × $5 + 100 × $25 per million, and 1,000 × $2 + 100 × $10.
        #expect(daily.daily?.map(\.totalCost) == [0.0075, 0.003])
        #expect(daily.totals.totalCost == 0.0105)
        #expect(try await report("weekly").weekly?.map(\.week) == ["2026-09-14"])
        #expect(try await report("monthly").monthly?.map(\.month) == ["2026-09"])
        let sessions = try await report("session")
        #expect(sessions.sessions?.map(\.sessionId) == ["s1", "s2"])
        #expect(sessions.sessions?[0].lastActivity == "2026-09-17T23:50:00.000Z")
        #expect(sessions.sessions?[0].projectPath == "-home-dev-app")
        let projects = try await report("daily", "--instances")
        #expect(projects.projects?["-home-dev-app"]?.map(\.project).first == "-home-dev-app")
        let one = try await report("daily", "--project", "-home-dev-app")
        #expect(one.daily?[0].project == "-home-dev-app")
    }

    @Test("reports of all tools have the members of the combined ones")
    func combined() async throws {
        let home = try ReportHome()
        try home.reply("2026-09-17T23:50:00Z", id: "a")
        let daily = try await decode(Ccusage.Report.self, home, "--tz", "UTC")
        #expect(daily.daily?[0].period == "2026-09-17" && daily.daily?[0].agent == "all")
        #expect(daily.daily?[0].metadata?.agents == ["claude"])
        let session = try await decode(Ccusage.Report.self, home, "session", "--tz", "UTC")
        #expect(session.session?[0].period == "s1" && session.session?[0].agent == "claude")
        #expect(session.session?[0].metadata?.lastActivity == "2026-09-17T23:50:00.000Z")
    }

    @Test("Codex's own reports have its members")
    func codex() async throws {
        let home = try ReportHome()
        let sample = Repository.fixtures.appending(path: "sources/codex/homes/usual").path
        let report = try await decode(
            Ccusage.CodexReport.self, home, "session", "--provider", "codex", "--home", sample)
        let session = try #require(report.sessions?.first)
        #expect(session.sessionFile == session.sessionId)
        #expect(session.models.values.reduce(0) { $0 + $1.totalTokens } == session.totalTokens)
    }

    @Test("an active block has its rate, projection and limit")
    func blocks() async throws {
        let home = try ReportHome()
        let now = Date()
        for (id, minutes) in [("a", 20.0), ("b", 10)] {
            try home.reply((now - minutes * 60).formatted(.iso8601), id: id)
        }
        try home.reply((now - 86_400 * 7).formatted(.iso8601), id: "old")
        let report = try await decode(Ccusage.Blocks.self, home, "blocks", "--active", "--token-limit", "max")
        let block = try #require(report.blocks.first)
        #expect(report.blocks.count == 1 && block.isActive && !block.isGap)
        #expect(block.entries == 2 && block.totalTokens == 2_200)
        #expect(block.tokenCounts.inputTokens == 2_000)
        #expect(block.burnRate?.tokensPerMinute == 220)
        #expect(block.tokenLimitStatus?.limit == 1_100)
        #expect(block.tokenLimitStatus?.status == "exceeds")
        #expect((block.projection?.totalTokens ?? 0) >= 2_200)
        let text = try await home.report("blocks", "--token-limit", "5000")
        #expect(text.text.contains("active, "))
        #expect(text.text.contains("220 tokens a minute"))
        #expect(text.text.contains("of the limit of 5,000 tokens"))
        let all = try await decode(Ccusage.Blocks.self, home, "blocks")
        #expect(all.blocks.map(\.isGap) == [false, true, false])
        #expect(all.blocks[1].actualEndTime == nil && all.blocks[1].id.hasPrefix("gap-"))
    }

    @Test(
        "without costs there is no member and no column of a cost",
        arguments: [
            ["daily"], ["session", "--provider", "claude"], ["daily", "--provider", "codex"],
            ["blocks", "--token-limit", "max"],
        ])
    func noCost(_ arguments: [String]) async throws {
        let home = try ReportHome()
        let now = Date()
        try home.reply((now - 1_200).formatted(.iso8601), id: "a")
        try home.reply((now - 600).formatted(.iso8601), id: "b", model: "claude-new")
        for format in [["--json"], ["--csv"], []] {
            let outcome = try await home.report(arguments + format + ["--no-cost"])
            let text = outcome.text + outcome.errors
            #expect(outcome.status == 0)
            #expect(["cost", "price", "$"].allSatisfy { !text.lowercased().contains($0) })
        }
    }

    @Test("nothing found is an empty report, and no error")
    func empty() async throws {
        let home = try ReportHome()
        let report = try await decode(Ccusage.Report.self, home, "monthly")
        #expect(report.monthly?.isEmpty == true && report.totals.totalTokens == 0)
        let blocks = try await home.report("blocks", "--active", "--json")
        #expect(blocks.text.contains("No active block"))
        let text = try await home.report()
        #expect(text.status == 0 && text.text.contains("usage-push sources"))
    }
}
