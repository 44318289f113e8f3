import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Claude's sample homes")
struct ClaudeSampleTests {
    private func read(
        _ home: SampleHome, _ variables: [String: String] = [:], at now: Date = sampleNow
    ) -> SourceReading {
        var source = ClaudeSource()
        return source.read(in: home.environment(variables), at: now)
    }

    @Test("the cache yields the session, weekly and per-model windows with their age")
    func wholeHome() throws {
        let reading = try read(SampleHome(copying: "claude/usual"))
        let provider = try #require(reading.provider)
        #expect(provider.providerID == "claude")
        #expect(provider.primary?.usedPercent == 22)
        #expect(provider.primary?.windowMinutes == 300)
        #expect(provider.primary?.resetsAt == utc("2026-09-18T14:10:00Z"))
        #expect(provider.secondary?.usedPercent == 37)
        #expect(provider.secondary?.resetsAt == utc("2026-09-21T16:00:00Z"))
        #expect(provider.rateWindows?.map(\.label) == [nil, nil, "Fable"])
        #expect(provider.rateWindows?.last?.usedPercent == 53)
        #expect(provider.rateWindows?.last?.windowMinutes == 10_080)
        #expect(provider.loginMethod == "Max 5x")
        #expect(provider.accountEmail == "dev@example.test")
        #expect(provider.lastUpdated == utc("2026-09-18T11:34:00Z"))
        #expect(provider.budget == nil)
        #expect(provider.costSummary == nil)
        #expect(provider.statusMessage == nil)
        #expect(!provider.isError)
        #expect(reading.isInstalled && !reading.isPartial)
        #expect(reading.findings.contains { $0.certainty == .cachedExact })
    }

    @Test("a cache with expired windows yields the plan and no percent")
    func stale() throws {
        let provider = try #require(try read(SampleHome(copying: "claude/stale")).provider)
        #expect(provider.windows.isEmpty)
        #expect(provider.loginMethod == "Pro")
        #expect(provider.accountEmail == "dev@example.test")
        #expect(provider.lastUpdated == Date(timeIntervalSince1970: 1_789_041_600))
        #expect(provider.statusMessage == "The session and weekly limits have been reset since the last reading")
        #expect(!provider.isError)
    }

    @Test("a state file without account and cache is ignored in any configured directory")
    func decoy() throws {
        let home = try SampleHome(copying: "claude/decoy")
        for variables in [[:], ["CLAUDE_CONFIG_DIR": home.path(".claude")]] {
            let reading = read(home, variables)
            #expect(reading.isInstalled)
            #expect(reading.provider == nil)
            #expect(reading.findings.contains { $0.detail.contains("no account") })
        }
    }

    @Test("a decoy does not hide the file with the account")
    func decoyBeside() throws {
        let home = try SampleHome(copying: "claude/usual")
        try home.write(".claude/.claude.json", "{\"firstStartTime\":\"2026-06-20T12:00:00.000Z\"}")
        for variables in [[:], ["CLAUDE_CONFIG_DIR": home.path(".claude")]] {
            #expect(read(home, variables).provider?.primary?.usedPercent == 22)
        }
    }

    @Test("the address of an account comes from any state file of its user")
    func addressElsewhere() throws {
        let home = try SampleHome(copying: "claude/two-states")
        for variables in [[:], ["CLAUDE_CONFIG_DIR": home.path(".claude")]] {
            let provider = read(home, variables).provider
            #expect(provider?.primary?.usedPercent == 22)
            #expect(provider?.accountEmail == "dev@example.test")
        }
        try home.write(
            ".claude.json",
            "{\"oauthAccount\":{\"accountUuid\":\"other\",\"emailAddress\":\"other@example.test\"}}"
        )
        #expect(read(home).provider?.accountEmail == nil)
    }

    @Test("a linked projects directory is followed")
    func linked() throws {
        let home = try SampleHome(copying: "claude/usual")
        let linked = try SampleHome()
        try linked.link(".claude/projects", to: home.path(".claude/projects"))
        var budget = stillBudget()
        let walk = DirectoryWalk(
            roots: ClaudePaths.homes(in: linked.environment())[0].projects, budget: &budget
        ) { $0.hasSuffix(".jsonl") }
        #expect(walk.files.count == 3)
        #expect(walk.errors.isEmpty)
    }

    @Test("without files Claude is not installed")
    func notInstalled() throws {
        let reading = try read(SampleHome())
        #expect(!reading.isInstalled)
        #expect(reading.provider == nil)
    }
}
