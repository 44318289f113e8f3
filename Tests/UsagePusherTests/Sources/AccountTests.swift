import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Accounts of a tool")
struct AccountTests {
    private func login(_ user: String) -> String {
        let claims = Data(
            ("{\"email\":\"\(user)@example.test\",\"https://api.openai.com/auth\":"
                + "{\"chatgpt_plan_type\":\"plus\",\"chatgpt_user_id\":\"\(user)\"}}").utf8
        ).base64EncodedString().replacing("=", with: "")
        return "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"account_id\":\"\(user)-account\","
            + "\"id_token\":\"a.\(claims).b\"}}"
    }

    @Test("after a switch the former account's card stays, marked, until its windows are reset")
    func switched() throws {
        let home = try SampleHome()
        var environment = home.environment()
        var source = CodexSource()
        let name = CodexLines.name(1)
        try home.write(".codex/auth.json", login("ann"), modified: utc("2026-09-18T08:00:00Z"))
        try home.write(name, CodexLines.usual("2026-09-18T10:00:00Z", 80, 60))
        let before = source.read(in: environment, at: utc("2026-09-18T10:01:00Z"))
        #expect(before.providers.map(\.accountEmail) == ["ann@example.test"])
        environment.accounts = try #require(before.accounts)

        try home.append(name, CodexLines.usual("2026-09-18T10:50:00Z", 90, 61))
        try home.write(".codex/auth.json", login("bob"), modified: utc("2026-09-18T11:00:00Z"))
        try home.append(name, CodexLines.usual("2026-09-18T11:30:00Z", 5, 6))
        let after = source.read(in: environment, at: sampleNow)
        #expect(after.providers.map(\.accountEmail) == ["bob@example.test", "ann@example.test"])
        #expect(after.providers.map { $0.windows.map(\.usedPercent) } == [[5, 6], [90, 61]])
        #expect(after.providers.map(\.statusMessage) == [nil, "Not logged in on this machine"])
        environment.accounts = try #require(after.accounts)

        var fresh = CodexSource()
        let later = fresh.read(in: environment, at: utc("2026-09-19T00:00:00Z"))
        #expect(later.providers.last?.windows.map(\.usedPercent) == [61])
        let end = fresh.read(in: environment, at: utc("2026-09-22T00:00:00Z"))
        #expect(end.providers.map(\.accountEmail) == ["bob@example.test"])
    }

    @Test("an account that comes back keeps its earlier rows")
    func cameBack() throws {
        let home = try SampleHome()
        var environment = home.environment()
        var source = CodexSource()
        let name = CodexLines.name(1)
        try home.write(name, CodexLines.usual("2026-09-18T09:30:00Z", 80, 60))
        for (user, time) in [("ann", "09:00"), ("bob", "10:00"), ("ann", "11:00")] {
            let login = utc("2026-09-18T\(time):00Z")
            try home.write(".codex/auth.json", self.login(user), modified: login)
            let reading = source.read(in: environment, at: login.addingTimeInterval(60))
            environment.accounts = try #require(reading.accounts)
        }
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.providers.map(\.accountEmail) == ["ann@example.test"])
        #expect(reading.provider?.windows.map(\.usedPercent) == [80, 60])
    }

    @Test("rows from before the login are not the new account's")
    func rowsBeforeLogin() throws {
        let home = try SampleHome()
        var environment = home.environment()
        var source = CodexSource()
        try home.write(".codex/auth.json", login("ann"), modified: utc("2026-09-18T08:00:00Z"))
        environment.accounts = try #require(source.read(in: environment, at: sampleNow).accounts)
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T10:50:00Z", 90, 61))
        try home.write(".codex/auth.json", login("bob"), modified: utc("2026-09-18T11:00:00Z"))
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.provider?.accountEmail == "bob@example.test")
        #expect(reading.provider?.windows == [])
    }

    @Test("every configured home has a card of its own account")
    func furtherHomes() throws {
        let home = try SampleHome()
        var environment = home.environment()
        environment.additionalHomes = ["codex": [home.path(".codex-work")]]
        try home.write(".codex/auth.json", login("ann"))
        try home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:00:00Z", 80, 60))
        try home.write(".codex-work/auth.json", login("bob"))
        try home.write(
            CodexLines.name(2).replacing(".codex/", with: ".codex-work/"),
            CodexLines.usual("2026-09-18T11:30:00Z", 5, 6))
        var source = CodexSource()
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.providers.map(\.accountEmail) == ["ann@example.test", "bob@example.test"])
        #expect(reading.providers.map { $0.primary?.usedPercent } == [80, 5])
        #expect(
            source.watchedPaths(in: environment).contains(
                WatchedPath(home.path(".codex-work/sessions"), isRecursive: true)))
    }

    @Test("captures of a further Claude home belong to its account")
    func furtherClaudeHome() throws {
        let home = try SampleHome(copying: "claude/usual")
        var environment = home.environment()
        environment.additionalHomes = ["claude": [home.path(".claude-work")]]
        try home.write(
            ".claude-work/.claude.json",
            "{\"oauthAccount\":{\"accountUuid\":\"work\",\"emailAddress\":\"work@example.test\"}}")
        let statusline = Data(
            ("{\"session_id\":\"w\",\"rate_limits\":{\"five_hour\":"
                + "{\"used_percentage\":77,\"resets_at\":1789740600}}}").utf8)
        try ClaudeStatuslineStore(environment).save(statusline: statusline, account: "work".fingerprint, at: sampleNow)
        var source = ClaudeSource()
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.providers.map(\.accountEmail) == ["dev@example.test", "work@example.test"])
        #expect(reading.providers.map { $0.primary?.usedPercent } == [22, 77])
    }

    @Test("every home has its own time of a login, and its own errors")
    func homesApart() throws {
        let home = try SampleHome()
        var environment = home.environment()
        environment.additionalHomes = ["claude": [home.path(".claude-work")]]
        let state = { (name: String) in
            "{\"oauthAccount\":{\"accountUuid\":\"\(name)\"," + "\"emailAddress\":\"\(name)@example.test\"}}"
        }
        var source = ClaudeSource()
        try home.write(".claude-work/.claude.json", state("work"), modified: utc("2026-09-18T07:00:00Z"))
        for (user, time) in [("ann", "08:00"), ("bob", "11:00")] {
            try home.write(".claude.json", state(user), modified: utc("2026-09-18T\(time):00Z"))
            let reading = source.read(in: environment, at: sampleNow)
            environment.accounts = try #require(reading.accounts)
        }
        let bob = environment.accounts.entries.last { $0.account == "bob".fingerprint }
        #expect(bob?.since == utc("2026-09-18T11:00:00Z"))

        try home.link(".claude/.credentials.json", to: ".credentials.json")
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.providers.map(\.isError) == [true, false])
    }

    @Test("a capture of a former account is not shown for a further home without an account")
    func furtherHomeWithoutAccount() throws {
        let home = try SampleHome(copying: "claude/usual")
        var environment = home.environment()
        environment.additionalHomes = ["claude": [home.path(".claude-work")]]
        try home.createDirectory(".claude-work/projects")
        let statusline = Data(
            ("{\"session_id\":\"w\",\"rate_limits\":{\"five_hour\":"
                + "{\"used_percentage\":77,\"resets_at\":1789740600}}}").utf8)
        try ClaudeStatuslineStore(environment)
            .save(statusline: statusline, account: "former".fingerprint, at: sampleNow)
        var source = ClaudeSource()
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.providers.map(\.accountEmail) == ["dev@example.test"])
        #expect(reading.providers.map { $0.primary?.usedPercent } == [22])
    }

    @Test("an explanation names every reading with its place and its verdict")
    func explained() throws {
        let home = try SampleHome(copying: "codex/usual")
        var environment = home.environment()
        environment.explains = true
        var source = CodexSource()
        let considered = source.read(in: environment, at: sampleNow).considered
        let shown = considered.filter(\.isShown)
        #expect(shown.map(\.limit).contains("codex"))
        #expect(shown.allSatisfy { $0.account == "dev@example.test" })
        #expect(considered.contains { $0.reason == "a copy of another session's line" })
        let winner = try #require(shown.first { $0.limit == "codex" })
        let text = try String(contentsOfFile: winner.path, encoding: .utf8)
        let line = text.utf8.dropFirst(Int(try #require(winner.offset)))
        #expect(String(Substring(line)).contains("\"used_percent\":36"))
    }
}
