import Foundation
import LocalFiles
import SnapshotModels
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// A fixture home whose files are moved to another directory, and what says where that is, if anything has to.
struct MovedHome: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// What is moved, and to where.
    let directory: String
    let target: String
    let variables: [String: String]
    /// A document that is written, by its path.
    let settings: [String: String]

    init(
        _ home: String, _ directory: String, to target: String = "elsewhere", _ variables: [String: String] = [:],
        settings: [String: String] = [:]
    ) {
        testDescription = home
        self.directory = directory
        self.target = target
        self.variables = variables
        self.settings = settings
    }

    static let all = [
        MovedHome("amp/usual", ".local/share/amp", to: "elsewhere/amp", ["XDG_DATA_HOME": "~/elsewhere"]),
        MovedHome("claude/counts", ".claude", ["CLAUDE_CONFIG_DIR": "~/elsewhere"]),
        MovedHome("codex/usual", ".codex", ["CODEX_HOME": "~/elsewhere/"]),
        MovedHome("gemini/usual", ".gemini", to: "elsewhere/.gemini", ["GEMINI_CLI_HOME": "~/elsewhere"]),
        MovedHome("grok/turns", ".grok", ["GROK_HOME": "~/elsewhere"]),
        MovedHome("kimi/usual", ".kimi", ["KIMI_SHARE_DIR": "~/elsewhere"]),
        MovedHome("kimi/code", ".kimi-code", ["KIMI_CODE_HOME": "~/elsewhere"]),
        MovedHome("qwen/ledger", ".qwen", ["QWEN_HOME": "~/elsewhere"]),
        MovedHome("qwen/ledger", ".qwen", ["QWEN_RUNTIME_DIR": "~/elsewhere"]),
        MovedHome(
            "qwen/ledger", ".qwen",
            settings: [".qwen/settings.json": #"{"advanced": {"runtimeOutputDir": "~/elsewhere/"}}"#]),
        MovedHome(
            "opencode/usual", ".local/share/opencode", to: "elsewhere/opencode", ["XDG_DATA_HOME": "~/elsewhere"]),
    ]

    /// Where other programs run a tool.
    static let launched = [
        MovedHome("claude/counts", ".claude", to: "Library/Developer/Xcode/CodingAssistant/ClaudeAgentConfig"),
        MovedHome("codex/usual", ".codex", to: "Library/Developer/Xcode/CodingAssistant/codex"),
        MovedHome("codex/usual", ".codex", to: ".config/orca/codex-runtime-home/home"),
        MovedHome("codex/usual", ".codex", to: "Library/Application Support/orca/codex-accounts/a1/home"),
    ]

    var isToldBySomething: Bool { !variables.isEmpty || !settings.isEmpty }
}

@Suite("Where tools' files are", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct ToolHomeTests {
    @Test(
        "files are found and watched where variables, settings or other programs put them",
        arguments: MovedHome.all + MovedHome.launched)
    func moved(_ sample: MovedHome) throws {
        let home = try SampleHome(copying: sample.testDescription)
        let provider = String(sample.testDescription.prefix { $0 != "/" })
        let source = try #require(UsageSources.all.first { $0.providerID == provider })
        let variables = sample.variables.mapValues { $0.replacing("~", with: home.path) }
        func said(_ variables: [String: String] = [:]) -> (tokens: [String], cards: [[String?]]) {
            let cards = home.reading(of: source, variables).providers
            return (
                home.tokens(of: provider, variables).filter { !$0.hasPrefix("left out") },
                cards.map { [$0.accountEmail, $0.loginMethod, "\($0.percents)"] }
            )
        }
        let usual = said()
        try #require(!usual.tokens.isEmpty)
        try home.createDirectory(sample.target)
        try home.remove(sample.target)
        try FileManager.default.moveItem(atPath: home.path(sample.directory), toPath: home.path(sample.target))
        if sample.isToldBySomething { #expect(said().tokens.count < usual.tokens.count) }
        for (path, text) in sample.settings { try home.write(path, text) }
        #expect(said(variables) == usual)
        let watched = source.watchedPaths(in: home.environment(variables)).map(\.path)
        #expect(watched.contains { $0.hasPrefix(home.path(sample.target)) })
    }

    @Test("without files no tool is installed", arguments: UsageSources.all.map(\.providerID))
    func notInstalled(_ provider: String) throws {
        let source = try #require(UsageSources.all.first { $0.providerID == provider })
        let reading = try SampleHome().reading(of: source)
        #expect(!reading.isInstalled && reading.providers.isEmpty)
    }

    @Test("Goose: the directory that the environment names comes in place of the usual one")
    func gooseRoot() throws {
        let home = try SampleHome(copying: "goose/usual")
        #expect(home.tokens(of: "goose", ["GOOSE_PATH_ROOT": home.path("elsewhere")]) == [])
        #expect(home.tokens(of: "goose", ["GOOSE_PATH_ROOT": "relative"]) == home.tokens(of: "goose"))
    }

    @Test("the desktop program's sessions of Claude are where the environment puts configuration")
    func claudeDesktop() throws {
        let roots = ClaudeTokens().roots(in: SourceEnvironment(home: "/h", variables: ["XDG_CONFIG_HOME": "/cfg"]))
        #expect(roots.contains("/cfg/Claude/local-agent-mode-sessions"))
    }

    @Test("variables say where Cline keeps its data, Kiro its sessions, and which database is Kilo's")
    func editors() throws {
        func environment(_ variables: [String: String]) -> SourceEnvironment {
            SourceEnvironment(home: "/h", variables: variables)
        }
        let cline = ClineTokens().roots(in: environment(["CLINE_DIR": "~/c", "XDG_CONFIG_HOME": "/cfg"]))
        #expect(cline.suffix(2) == ["/h/c/data/tasks", "/h/c/data/sessions"])
        #expect(cline[0] == "/cfg/Code/User/globalStorage/saoudrizwan.claude-dev/tasks")
        let data = environment(["CLINE_DATA_DIR": "/x", "CLINE_SESSION_DATA_DIR": "/y"])
        #expect(ClineTokens().roots(in: data).suffix(2) == ["/x/tasks", "/y"])
        for (name, databases) in [
            ("own.db", ["/d/kilo/kilo.db", "/d/kilo/own.db"]), (":memory:", ["/d/kilo/kilo.db"]),
        ] {
            let kilo = environment(["XDG_DATA_HOME": "/d", "KILO_DB": name])
            #expect(OpenCodeTokens.kilo.databases(in: kilo) == databases)
        }
        let kiro = KiroSource().watchedPaths(in: environment(["KIRO_HOME": "~/k"])).map(\.path)
        #expect(kiro.first == "/h/k/sessions")
    }

    @Test(
        "Gemini CLI's login says whose account it is",
        arguments: [
            (#"{"security": {"auth": {"selectedType": "oauth-personal"}}}"#, "dev@example.test"),
            (#"{"selectedAuthType": "oauth-personal"}"#, "dev@example.test"),
            (#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#, "API key"),
            (#"{"security": {"auth": {"selectedType": "vertex-ai"}}}"#, "Vertex AI"),
            (#"{"security": {"auth": {"selectedType": "new"}}}"#, nil), ("{}", nil), ("", nil),
        ])
    func geminiLogin(settings: String, expected: String?) throws {
        let home = try SampleHome()
        try home.write(".gemini/settings.json", settings)
        try home.write(".gemini/google_accounts.json", #"{"active": "dev@example.test", "old": []}"#)
        let card = home.reading(of: GeminiSource()).provider
        #expect(card?.accountEmail ?? card?.loginMethod == expected)
        #expect((card?.accountEmail != nil) == (expected == "dev@example.test"))
    }

    @Test(
        "of a login of Grok Build only the address is read",
        arguments: [
            (
                #"{"https://accounts.x.ai/sign-in": {"email": "old@example.test"}, "https://auth.x.ai::id":"#
                    + #" {"key": "SYNTHETIC-NOT-A-KEY", "email": "dev@example.test"}}"#, "dev@example.test"
            ),
            (#"{"https://accounts.x.ai/sign-in": {"email": "old@example.test"}}"#, "old@example.test"),
            (#"{"xai": {"key": "SYNTHETIC-NOT-A-KEY"}}"#, nil), (#"{"email": 7}"#, nil), ("[", nil),
        ])
    func grokLogin(login: String, address: String?) throws {
        let home = try SampleHome()
        try home.write(".grok/auth.json", login)
        let card = home.reading(of: GrokSource()).provider
        #expect(card?.accountEmail == address && card?.loginMethod == nil)
    }
}
