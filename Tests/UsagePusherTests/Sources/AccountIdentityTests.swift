import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Accounts are known by their ids")
struct AccountIdentityTests {
    private let address = "dev@example.test"

    private func codexLogin(_ workspace: String) -> String {
        let claims = Data("{\"email\":\"\(address)\"}".utf8).base64EncodedString().replacing("=", with: "")
        return "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"account_id\":\"\(workspace)\","
            + "\"id_token\":\"a.\(claims).b\"}}"
    }

    private func claudeState(_ organization: String) -> String {
        "{\"oauthAccount\":{\"accountUuid\":\"dev\",\"emailAddress\":\"\(address)\","
            + "\"organizationUuid\":\"\(organization)\",\"organizationName\":\"\(organization)\"}}"
    }

    private func capture(_ session: String, _ percent: Int) -> Data {
        statusline(session: session, "\"five_hour\":{\"used_percentage\":\(percent),\"resets_at\":1789740600}")
    }

    @Test("two workspaces of one address in Codex are two cards with names of their own")
    func codexWorkspaces() throws {
        let home = try SampleHome()
        var environment = home.environment()
        var source = CodexSource()
        let name = CodexLines.name(1)
        try home.write(".codex/auth.json", codexLogin("personal"))
        try home.write(name, CodexLines.usual("2026-09-18T10:00:00Z", 80, 60))
        let before = source.read(in: environment, at: utc("2026-09-18T10:01:00Z"))
        #expect(before.providers.map(\.accountEmail) == [address])
        environment.accounts = try #require(before.accounts)

        try home.write(".codex/auth.json", codexLogin("team"), modified: utc("2026-09-18T11:00:00Z"))
        try home.append(name, CodexLines.usual("2026-09-18T11:30:00Z", 5, 6))
        for _ in 0..<2 {
            let after = source.read(in: environment, at: sampleNow)
            #expect(after.providers.map { $0.windows.map(\.usedPercent) } == [[5, 6], [80, 60]])
            let names = after.providers.compactMap(\.accountEmail)
            #expect(Set(names).count == 2 && names.allSatisfy { $0.hasPrefix(address + " (") })
            environment.accounts = try #require(after.accounts)
        }
    }

    @Test("two homes with one address and two accounts are two cards with names of their own")
    func codexHomes() throws {
        let home = try SampleHome()
        var environment = home.environment()
        environment.additionalHomes = ["codex": [home.path(".codex-work")]]
        try home.write(".codex/auth.json", codexLogin("personal"))
        try home.write(".codex-work/auth.json", codexLogin("team"))
        var source = CodexSource()
        let reading = source.read(in: environment, at: sampleNow)
        #expect(Set(reading.providers.map(\.accountEmail)).count == 2)
        try home.write(".codex-work/auth.json", codexLogin("personal"))
        let same = source.read(in: environment, at: sampleNow)
        #expect(same.providers.map(\.accountEmail) == [address, address])
    }

    @Test("a user's organizations in Claude Code are two cards, named after them")
    func claudeOrganizations() throws {
        let home = try SampleHome()
        var environment = home.environment()
        var source = ClaudeSource()
        let store = ClaudeStatuslineStore(environment)
        let login = { (organization: String, percent: Int, time: Date) in
            try home.write(".claude.json", claudeState(organization), modified: time)
            let account = try #require(ClaudeSource.presentAccount(in: environment))
            try store.save(statusline: capture(organization, percent), account: account, at: time)
        }
        try login("Home", 80, utc("2026-09-18T10:00:00Z"))
        let before = source.read(in: environment, at: utc("2026-09-18T10:01:00Z"))
        environment.accounts = try #require(before.accounts)
        try login("Sample Org", 5, utc("2026-09-18T11:00:00Z"))
        let after = source.read(in: environment, at: sampleNow)
        #expect(after.providers.map(\.accountEmail) == ["\(address) (Sample Org)", "\(address) (Home)"])
        #expect(after.providers.map { $0.primary?.usedPercent } == [5, 80])
    }

    @Test("with an API key no numbers of a ChatGPT account are the present login's")
    func apiKey() throws {
        let home = try SampleHome()
        var environment = home.environment()
        var source = CodexSource()
        try home.write(".codex/auth.json", codexLogin("personal"))
        let name = CodexLines.name(1)
        try home.write(name, CodexLines.usual("2026-09-18T10:00:00Z", 80, 60))
        let before = source.read(in: environment, at: utc("2026-09-18T10:01:00Z"))
        let key = "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"SYNTHETIC-NOT-A-KEY\"}"
        try home.write(".codex/auth.json", key, modified: utc("2026-09-18T11:00:00Z"))
        // A session that began before goes on.
        try home.append(name, CodexLines.usual("2026-09-18T11:30:00Z", 81, 61))

        // The ChatGPT login was never seen.
        let alone = source.read(in: environment, at: sampleNow)
        #expect(alone.providers.map(\.loginMethod) == ["API key"])
        #expect(alone.provider?.windows == [] && alone.provider?.credits == nil)

        environment.accounts = try #require(before.accounts)
        let after = source.read(in: environment, at: sampleNow)
        #expect(after.providers.map(\.accountEmail) == [nil, address])
        #expect(after.providers.map { $0.windows.map(\.usedPercent) } == [[], [80, 60]])
        #expect(after.providers[1].statusMessage == "Not logged in on this machine")
    }
}
