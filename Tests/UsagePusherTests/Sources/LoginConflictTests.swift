import Foundation
import SnapshotModels
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// A reading of Codex at 10:00, a login, and whose the reading then is.
struct CodexLoginCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var creator: String?
    var plan: String? = "plus"
    var loginPlan: String? = "plus"
    /// The hour on the day of the reading.
    var refreshed: Int?
    var authenticated: Int?
    /// Nil when the numbers are the present account's.
    var reason: String?

    private static let switched = "from before you switched accounts"
    private static let plans = "from before you switched accounts or plans"
    private static let login = "from before the last login, perhaps of another account"

    static let all: [CodexLoginCase] = [
        .init(testDescription: "nothing contradicts", refreshed: 8),
        .init(testDescription: "a login without a time"),
        .init(testDescription: "the login is newer", refreshed: 11, reason: login),
        .init(testDescription: "the token was renewed since, after a login before", refreshed: 11, authenticated: 8),
        .init(testDescription: "the user logged in since", refreshed: 11, authenticated: 11, reason: login),
        .init(testDescription: "this account began the session", creator: "acct-b", refreshed: 11),
        .init(testDescription: "this user began the session", creator: "user-b", refreshed: 11),
        .init(testDescription: "another account began the session", creator: "acct-a", refreshed: 8, reason: switched),
        .init(testDescription: "another account, and the login names no time", creator: "acct-a", reason: switched),
        .init(
            testDescription: "another plan, and the login is newer", plan: "plus",
            loginPlan: "pro", refreshed: 11, authenticated: 8, reason: plans),
        .init(
            testDescription: "another plan of the same account, and the login is newer",
            creator: "acct-b", loginPlan: "pro", refreshed: 11, reason: plans),
        .init(testDescription: "another plan, which the token does not know yet", plan: "pro", refreshed: 8),
        .init(testDescription: "a plan in another spelling", plan: "Plus", refreshed: 11, authenticated: 8),
        .init(testDescription: "an unknown plan", plan: "unknown", refreshed: 11, authenticated: 8),
        .init(testDescription: "no plan, and the login is newer", plan: nil, refreshed: 11, reason: login),
    ]

    private func time(_ hour: Int) -> Int {
        Int(utc("2026-09-18T\(hour < 10 ? "0" : "")\(hour):30:00Z").timeIntervalSince1970)
    }

    private var authentication: String {
        let plan = loginPlan.map { #""chatgpt_plan_type":"\#($0)","# } ?? ""
        let login = authenticated.map { #""auth_time":\#(time($0)),"# } ?? ""
        let claims = Data(
            (#"{"email":"bob@example.test",\#(login)"https://api.openai.com/auth":{\#(plan)"#
                + #""chatgpt_user_id":"user-b"}}"#).utf8
        ).base64EncodedString().replacing("=", with: "")
        let last = refreshed.map { #","last_refresh":\#(time($0))"# } ?? ""
        return #"{"tokens":{"account_id":"acct-b","id_token":"a.\#(claims).b"}\#(last)}"#
    }

    private var rollout: String {
        let creator = creator.map { #","creator_account_id":"\#($0)""# } ?? ""
        let plan = plan.map { #","plan_type":"\#($0)""# } ?? ""
        let window = CodexLines.window("92", 300, CodexLines.session)
        return #"{"timestamp":"2026-09-18T09:59:00Z","type":"session_meta","payload":"#
            + #"{"id":"s","cwd":"/w"\#(creator)}}"# + "\n"
            + CodexLines.row("2026-09-18T10:00:00Z", #"{"primary":\#(window)\#(plan)}"#)
    }

    func home() throws -> SampleHome {
        let home = try SampleHome()
        try home.write(".codex/auth.json", authentication)
        try home.write(CodexLines.name(1), rollout)
        return home
    }
}

@Suite("Whose a reading is")
struct LoginConflictTests {
    @Test("numbers are the account's that is logged in unless something contradicts", arguments: CodexLoginCase.all)
    func codex(_ sample: CodexLoginCase) throws {
        let home = try sample.home()
        var environment = home.environment()
        environment.explains = true
        var source = CodexSource()
        let reading = source.read(in: environment, at: sampleNow)
        let card = try #require(reading.provider)
        #expect(reading.providers.count == 1 && card.accountEmail == "bob@example.test")
        #expect(card.percents == (sample.reason == nil ? [92] : []))
        #expect(card.usageDataConfidence == (sample.reason == nil ? "exact" : nil))
        #expect(card.statusMessage == sample.reason.map { "The last reading is " + $0 })
        let considered = try #require(reading.considered.first)
        #expect(considered.isShown == (sample.reason == nil))
        if let reason = sample.reason {
            #expect(considered.reason == reason && considered.account == nil)
            #expect(reading.findings[0].detail.contains(reason))
        }
    }

    @Test("a session of another account that goes on after a switch that was seen is of the new one")
    func continued() throws {
        let sample = try #require(CodexLoginCase.all.first { $0.creator == "acct-a" })
        let home = try sample.home()
        var environment = home.environment()
        environment.accounts.record(
            providerID: "codex", home: home.path(".codex"), account: "ann", changedAt: sampleNow)
        environment.accounts.record(
            providerID: "codex", home: home.path(".codex"),
            account: "acct-b/user-b".fingerprint, changedAt: utc("2026-09-18T09:00:00Z"))
        var source = CodexSource()
        let reading = source.read(in: environment, at: sampleNow)
        #expect(reading.percents == [92])
    }

    @Test("limits that Claude Code cached for another account are said to be another's")
    func claudeCache() throws {
        for (cached, isOwn) in [("ann", false), ("bob", true)] {
            let home = try SampleHome()
            try home.write(
                ".claude.json",
                #"{"oauthAccount":{"accountUuid":"bob","emailAddress":"bob@example.test"},"#
                    + #""cachedUsageUtilization":{"accountUuid":"\#(cached)","fetchedAtMs":1789731000000,"#
                    + #""utilization":{"five_hour":{"utilization":92,"resets_at":1789740900}}}}"#)
            let card = try claudeProvider(home)
            #expect(card.accountEmail == "bob@example.test")
            #expect(card.percents == (isOwn ? [92] : []))
            #expect(card.statusMessage == (isOwn ? nil : "The last reading is from before you switched accounts"))
        }
    }

    @Test("a capture of another account's session is said to be another's")
    func claudeCapture() throws {
        let home = try SampleHome()
        try home.write(".claude.json", #"{"oauthAccount":{"accountUuid":"bob","emailAddress":"bob@example.test"}}"#)
        try ClaudeStatuslineStore(home.environment()).save(
            statusline: statusline(session: "s", #""five_hour":{"used_percentage":92,"resets_at":1789740900}"#),
            account: "ann".fingerprint, at: sampleNow)
        let card = try claudeProvider(home)
        #expect(card.windows.isEmpty)
        #expect(card.statusMessage == "The last reading is from before you switched accounts")
    }

    @Test("of several accounts of Windsurf none is taken for the one that is logged in")
    func windsurf() throws {
        guard SQLiteLibrary.installed != nil else { return }
        let plan = { (left: Int, end: Int) in
            #"{"dailyRemainingPercent":\#(left),"dailyResetAtUnix":1789776000,"endTimestamp":\#(end)}"#
        }
        for (end, confidence) in [(1_791_000_000_000, "unknown"), (1_780_000_000_000, "exact")] {
            let home = try SampleHome()
            try home.writeDatabase(
                ".config/Windsurf/User/globalStorage/state.vscdb",
                "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);"
                    + "INSERT INTO ItemTable VALUES ('\(WindsurfPlan.prefix)1', '\(plan(64, 1_791_888_000_000))'),"
                    + "('\(WindsurfPlan.prefix)2', '\(plan(5, end))');")
            var source = WindsurfSource()
            let card = try #require(source.read(home).provider)
            #expect(card.percents == [36])
            #expect(card.usageDataConfidence == confidence)
            #expect((card.statusMessage == nil) == (confidence == "exact"))
        }
    }
}
