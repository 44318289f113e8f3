import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

/// A home whose users log in one after the other. Every reading knows the accounts of those before.
private final class LoginHome<Source: UsageSource> {
    let home: SampleHome
    var environment: SourceEnvironment
    private var source: Source

    init(_ source: Source, copying name: String? = nil, further: String? = nil) throws {
        home = try SampleHome(copying: name)
        environment = home.environment(explains: true)
        if let further { environment.additionalHomes = [source.providerID: [home.path(further)]] }
        self.source = source
    }

    @discardableResult
    func read(at now: Date = sampleNow, anew: Source? = nil) throws -> SourceReading {
        if let anew { source = anew }
        let reading = source.read(in: environment, at: now)
        environment.accounts = try #require(reading.accounts)
        return reading
    }

    /// The accounts of the cards.
    func emails(at now: Date = sampleNow) throws -> [String?] { try read(at: now).providers.map(\.accountEmail) }
}

extension LoginHome<CodexSource> {
    func logIn(_ login: String, at time: String = "2026-09-18T12:00:00Z", in directory: String = ".codex") throws {
        try home.write(directory + "/auth.json", login, modified: utc(time))
    }

    /// Appends a row of both windows to the only session.
    func answer(_ time: String, _ session: Double, _ weekly: Double) throws {
        let name = CodexLines.name(1)
        if !FileManager.default.fileExists(atPath: home.path(name)) { try home.write(name, "") }
        try home.append(name, CodexLines.usual(time, session, weekly))
    }
}

extension LoginHome<ClaudeSource> {
    /// A capture of a status line.
    func capture(_ percent: Int, account: String, at time: Date = sampleNow) throws {
        try ClaudeStatuslineStore(environment).save(
            statusline: statusline(
                session: account, "\"five_hour\":{\"used_percentage\":\(percent),\"resets_at\":1789740600}"),
            account: account, at: time)
    }
}

private func codexLogin(_ account: String, email: String, user: String = "") -> String {
    let claims = Data(
        #"{"email":"\#(email)","https://api.openai.com/auth":{"chatgpt_plan_type":"plus","chatgpt_user_id":"\#(user)"}}"#
            .utf8
    ).base64EncodedString().replacing("=", with: "")
    return #"{"auth_mode":"chatgpt","tokens":{"account_id":"\#(account)","id_token":"a.\#(claims).b"}}"#
}

private func codexLogin(of user: String) -> String {
    codexLogin(user + "-account", email: user + "@example.test", user: user)
}

private func claudeState(_ account: String, email: String, organization: String? = nil) -> String {
    let members = organization.map { #","organizationUuid":"\#($0)","organizationName":"\#($0)""# } ?? ""
    return #"{"oauthAccount":{"accountUuid":"\#(account)","emailAddress":"\#(email)"\#(members)}}"#
}

@Suite("Accounts of a tool")
struct AccountTests {
    @Test("after a switch the former account's card stays, marked, until its windows are reset")
    func switched() throws {
        let codex = try LoginHome(CodexSource())
        try codex.logIn(codexLogin(of: "ann"), at: "2026-09-18T08:00:00Z")
        try codex.answer("2026-09-18T10:00:00Z", 80, 60)
        #expect(try codex.emails(at: utc("2026-09-18T10:01:00Z")) == ["ann@example.test"])
        try codex.answer("2026-09-18T10:50:00Z", 90, 61)
        try codex.logIn(codexLogin(of: "bob"), at: "2026-09-18T11:00:00Z")
        try codex.answer("2026-09-18T11:30:00Z", 5, 6)
        let after = try codex.read()
        #expect(after.providers.map(\.accountEmail) == ["bob@example.test", "ann@example.test"])
        #expect(after.providers.map(\.percents) == [[5, 6], [90, 61]])
        #expect(after.providers.map(\.statusMessage) == [nil, "Not logged in on this machine"])
        let later = try codex.read(at: utc("2026-09-19T00:00:00Z"), anew: CodexSource())
        #expect(later.providers.last?.percents == [61])
        #expect(try codex.emails(at: utc("2026-09-22T00:00:00Z")) == ["bob@example.test"])
    }

    @Test("an account that comes back keeps its earlier rows")
    func cameBack() throws {
        let codex = try LoginHome(CodexSource())
        try codex.answer("2026-09-18T09:30:00Z", 80, 60)
        for (user, time) in [("ann", "09:00"), ("bob", "10:00"), ("ann", "11:00")] {
            let login = "2026-09-18T\(time):00Z"
            try codex.logIn(codexLogin(of: user), at: login)
            try codex.read(at: utc(login) + 60)
        }
        let reading = try codex.read()
        #expect(reading.providers.map(\.accountEmail) == ["ann@example.test"] && reading.percents == [80, 60])
    }

    @Test("rows from before the login are not the new account's")
    func rowsBeforeLogin() throws {
        let codex = try LoginHome(CodexSource())
        try codex.logIn(codexLogin(of: "ann"), at: "2026-09-18T08:00:00Z")
        try codex.read()
        try codex.answer("2026-09-18T10:50:00Z", 90, 61)
        try codex.logIn(codexLogin(of: "bob"), at: "2026-09-18T11:00:00Z")
        let reading = try codex.read()
        #expect(reading.provider?.accountEmail == "bob@example.test" && reading.percents == [])
    }

    @Test("every configured home has a card of its own account")
    func furtherHomes() throws {
        let codex = try LoginHome(CodexSource(), further: ".codex-work")
        try codex.logIn(codexLogin(of: "ann"))
        try codex.answer("2026-09-18T11:00:00Z", 80, 60)
        try codex.logIn(codexLogin(of: "bob"), in: ".codex-work")
        try codex.home.write(
            CodexLines.name(2).replacing(".codex/", with: ".codex-work/"),
            CodexLines.usual("2026-09-18T11:30:00Z", 5, 6))
        let reading = try codex.read()
        #expect(reading.providers.map(\.accountEmail) == ["ann@example.test", "bob@example.test"])
        #expect(reading.providers.map { $0.primary?.usedPercent } == [80, 5])
        let sessions = WatchedPath(codex.home.path(".codex-work/sessions"), isRecursive: true)
        #expect(CodexSource().watchedPaths(in: codex.environment).contains(sessions))
    }

    @Test("captures of a further Claude home belong to its account, and those of a former one to none")
    func furtherClaudeHome() throws {
        let claude = try LoginHome(ClaudeSource(), copying: "claude/usual", further: ".claude-work")
        try claude.home.createDirectory(".claude-work/projects")
        try claude.capture(77, account: "work".fingerprint)
        #expect(try claude.read().providers.map { $0.primary?.usedPercent } == [22])
        try claude.home.write(".claude-work/.claude.json", claudeState("work", email: "work@example.test"))
        let reading = try claude.read()
        #expect(reading.providers.map(\.accountEmail) == ["dev@example.test", "work@example.test"])
        #expect(reading.providers.map { $0.primary?.usedPercent } == [22, 77])
    }

    @Test("every home has its own time of a login, and its own errors")
    func homesApart() throws {
        let claude = try LoginHome(ClaudeSource(), further: ".claude-work")
        for (path, user, time) in [
            (".claude-work/", "work", "07:00"), ("", "ann", "08:00"), ("", "bob", "11:00"),
        ] {
            let state = claudeState(user, email: user + "@example.test")
            try claude.home.write(path + ".claude.json", state, modified: utc("2026-09-18T\(time):00Z"))
            try claude.read()
        }
        let bob = claude.environment.accounts.entries.last { $0.account == "bob".fingerprint }
        #expect(bob?.since == utc("2026-09-18T11:00:00Z"))
        try claude.home.link(".claude/.credentials.json", to: ".credentials.json")
        #expect(try claude.read().providers.map(\.isError) == [true, false])
    }

    @Test("an explanation names every reading with its place and its verdict")
    func explained() throws {
        let considered = try LoginHome(CodexSource(), copying: "codex/usual").read().considered
        #expect(considered.contains { $0.reason == "a copy of another session's line" })
        #expect(considered.filter(\.isShown).allSatisfy { $0.account == "dev@example.test" })
    }
}

@Suite("Accounts are known by their ids")
struct AccountIdentityTests {
    private static let address = "dev@example.test"

    private func logIn(_ workspace: String) -> String { codexLogin(workspace, email: Self.address) }

    @Test("two workspaces of one address in Codex are two cards with names of their own")
    func codexWorkspaces() throws {
        let codex = try LoginHome(CodexSource())
        try codex.logIn(logIn("personal"))
        try codex.answer("2026-09-18T10:00:00Z", 80, 60)
        #expect(try codex.emails(at: utc("2026-09-18T10:01:00Z")) == [Self.address])
        try codex.logIn(logIn("team"), at: "2026-09-18T11:00:00Z")
        try codex.answer("2026-09-18T11:30:00Z", 5, 6)
        for _ in 0..<2 {
            let after = try codex.read()
            #expect(after.providers.map(\.percents) == [[5, 6], [80, 60]])
            let names = after.providers.compactMap(\.accountEmail)
            #expect(Set(names).count == 2 && names.allSatisfy { $0.hasPrefix(Self.address + " (") })
        }
    }

    @Test("two homes with one address and two accounts are two cards with names of their own")
    func codexHomes() throws {
        let codex = try LoginHome(CodexSource(), further: ".codex-work")
        try codex.logIn(logIn("personal"))
        try codex.logIn(logIn("team"), in: ".codex-work")
        #expect(Set(try codex.emails()).count == 2)
        try codex.logIn(logIn("personal"), in: ".codex-work")
        #expect(try codex.emails() == [Self.address, Self.address])
    }

    @Test("a user's organizations in Claude Code are two cards, named after them")
    func claudeOrganizations() throws {
        let claude = try LoginHome(ClaudeSource())
        func logIn(_ organization: String, _ percent: Int, at time: Date) throws -> SourceReading {
            let state = claudeState("dev", email: Self.address, organization: organization)
            try claude.home.write(".claude.json", state, modified: time)
            let account = try #require(ClaudeSource.presentAccount(in: claude.environment))
            try claude.capture(percent, account: account, at: time)
            return try claude.read(at: time + 60)
        }
        _ = try logIn("Home", 80, at: utc("2026-09-18T10:00:00Z"))
        let after = try logIn("Sample Org", 5, at: utc("2026-09-18T11:59:00Z"))
        #expect(after.providers.map(\.accountEmail) == ["\(Self.address) (Sample Org)", "\(Self.address) (Home)"])
        #expect(after.providers.map { $0.primary?.usedPercent } == [5, 80])
    }

    @Test("with an API key no numbers of a ChatGPT account are the present login's")
    func apiKey() throws {
        let codex = try LoginHome(CodexSource())
        try codex.logIn(logIn("personal"))
        try codex.answer("2026-09-18T10:00:00Z", 80, 60)
        let unseen = codex.environment.accounts
        try codex.read(at: utc("2026-09-18T10:01:00Z"))
        let seen = codex.environment.accounts
        try codex.logIn(
            #"{"auth_mode":"apikey","OPENAI_API_KEY":"SYNTHETIC-NOT-A-KEY"}"#, at: "2026-09-18T11:00:00Z")
        // A session that began before goes on.
        try codex.answer("2026-09-18T11:30:00Z", 81, 61)
        codex.environment.accounts = unseen
        let alone = try codex.read()
        #expect(alone.providers.map(\.loginMethod) == ["API key"])
        #expect(alone.percents == [] && alone.provider?.credits == nil)
        codex.environment.accounts = seen
        let after = try codex.read()
        #expect(after.providers.map(\.accountEmail) == [nil, Self.address])
        #expect(after.providers.map(\.percents) == [[], [80, 60]])
        #expect(after.providers[1].statusMessage == "Not logged in on this machine")
    }
}
