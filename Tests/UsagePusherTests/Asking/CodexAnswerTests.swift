import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

/// What Codex answered, kept as after a question at 11:59, and what its source then says.
private struct AnsweredHome {
    let home: SampleHome

    init() throws {
        home = try SampleHome()
        try home.createDirectory(".codex")
    }

    /// As the output grows, a few bytes at a time.
    func answer(_ output: String) throws(CodexRefusal) -> CodexAnswer? {
        var conversation = CodexConversation()
        let data = Data(output.utf8)
        for count in stride(from: 0, to: data.count, by: max(7, data.count / 100)) {
            _ = conversation.read(data.prefix(count))
        }
        _ = conversation.read(data)
        return try conversation.answer(
            askedAt: utc("2026-09-18T11:59:00Z"), answeredAt: utc("2026-09-18T11:59:05Z"), path: path)
    }

    func keep(_ answer: CodexAnswer) throws {
        var state = CodexAskState(askedAt: answer.askedAt)
        state.answer = answer
        try home.write(String(path.dropFirst(home.path.count + 1)), state.data)
    }

    private var path: String { CodexAsking.path(of: home.path(".codex"), in: home.environment()) }
}

/// Whose an answer at 11:59 is.
struct AnswerOwnerCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var address: String? = "Bob@example.test"
    var workspace: String? = "acct-b"
    /// Nil without a login file.
    var login: String? = ""
    /// The time of the login, on the day of the answer.
    var authenticated = "08:00:00"
    let isShown: Bool

    static let all: [AnswerOwnerCase] = [
        .init(testDescription: "the address and the workspace of the login", isShown: true),
        .init(testDescription: "the same, and the login is newer", authenticated: "11:59:30", isShown: true),
        .init(testDescription: "another address", address: "eve@example.test", isShown: false),
        .init(
            testDescription: "another address without a workspace", address: "eve@example.test", workspace: nil,
            isShown: false),
        .init(testDescription: "another workspace alone", address: nil, workspace: "acct-a", isShown: false),
        .init(testDescription: "the address with another id", workspace: "id-7", isShown: true),
        .init(
            testDescription: "the address with another id, and the login is newer", workspace: "id-7",
            authenticated: "11:59:02", isShown: false),
        .init(testDescription: "no name, and the login is older", address: nil, workspace: nil, isShown: true),
        .init(
            testDescription: "no name, and the login is newer", address: nil, workspace: nil,
            authenticated: "11:59:02", isShown: false),
        .init(testDescription: "no login file", login: nil, isShown: true),
        .init(testDescription: "the login is an API key", login: #"{"OPENAI_API_KEY":"k"}"#, isShown: false),
    ]

    fileprivate func file() -> String? {
        if login != "" { return login }
        let seconds = Int(utc("2026-09-18T\(authenticated)Z").timeIntervalSince1970)
        let claims = Data(
            (#"{"email":"bob@example.test","auth_time":\#(seconds),"https://api.openai.com/auth":"#
                + #"{"chatgpt_plan_type":"plus","chatgpt_user_id":"user-b"}}"#).utf8
        ).base64EncodedString().replacing("=", with: "")
        return #"{"tokens":{"account_id":"acct-b","id_token":"a.\#(claims).b"},"last_refresh":\#(seconds)}"#
    }
}

@Suite("What Codex answers")
struct CodexAnswerTests {
    private static let session = #""usedPercent":21,"windowDurationMins":300,"resetsAt":1789740900"#
    private static let weekly = #""usedPercent":8,"windowDurationMins":10080,"resetsAt":1790010000"#
    private static let login =
        #"{"id":2,"result":{"account":{"type":"chatgpt","email":"bob@example.test","planType":"plus"},"requiresOpenaiAuth":true}}"#
    private static let start = #"{"id":1,"result":{"userAgent":"usage-push/0.163.0","codexHome":"/home/u/.codex"}}"#
    private static let usual = "session 21 until 18 14:15; weekly 8 until 21 17:00; plan Plus"

    private static func limits(_ fields: String, _ more: String = "") -> String {
        #"{"id":3,"result":{"rateLimits":{\#(fields)}\#(more)}}"#
    }

    private static let shapes = LogShape.table(
        #"""
        # an answer states both windows, the plan and the credits -> \#(usual); credits 12.5
        \#(start)
        \#(login)
        \#(limits(#""limitId":"codex","limitName":null,"primary":{\#(session)},"secondary":{\#(weekly)},"credits":{"hasCredits":true,"unlimited":false,"balance":"12.5"},"individualLimit":null,"planType":"plus","rateLimitReachedType":null"#, #","rateLimitsByLimitId":{"codex":{"primary":{\#(session)}}},"rateLimitResetCredits":null,"accountId":null"#))
        # answers come in any order, between notifications and questions of the server -> \#(usual)
        {"method":"configWarning","params":{"summary":"no bubblewrap"},"emittedAtMs":1795872508569}
        {"id":3,"method":"item/tool/requestUserInput","params":{}}
        \#(limits(#""primary":{\#(session)},"secondary":{\#(weekly)}"#))
        {"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":99}}}}
        \#(login)
        \#(start)
        # a lone window is named by its length -> weekly 8 until 21 17:00; plan Plus
        \#(login)
        \#(limits(#""primary":{\#(weekly)},"secondary":null"#))
        # a window may have neither length nor reset -> session 5; plan Plus
        \#(login)
        \#(limits(#""primary":{"usedPercent":5,"windowDurationMins":null,"resetsAt":null},"secondary":null"#))
        # an unknown plan is shown in its own words -> session 21 until 18 14:15; plan Pro Deluxe
        \#(login)
        \#(limits(#""primary":{\#(session)},"planType":"pro_deluxe""#))
        # further limits have their names, or else their keys -> session 21 until 18 14:15; Spark weekly 8 until 21 17:00; other session 21 until 18 14:15; plan Plus
        \#(login)
        \#(limits(#""limitId":"codex","primary":{\#(session)}"#, #","rateLimitsByLimitId":{"codex":{"primary":{"usedPercent":99}},"codex_spark":{"limitId":"codex_spark","limitName":"GPT-5.3-Codex-Spark","primary":{\#(weekly)}},"other":{"primary":{\#(session)}},"none":null}"#))
        # without the account, as of old versions, the limits count -> session 21 until 18 14:15
        {"id":2,"error":{"code":-32601,"message":"unknown method"}}
        \#(limits(#""primary":{\#(session)}"#))
        # garbage, long lines, other ids and a second answer are ignored -> \#(usual)
        [1, 2
        {"id":3,"result":{"rateLimits":{"limitName":"LONG","primary":{"usedPercent":99}}}}
        {"id":4,"result":{"rateLimits":{"primary":{"usedPercent":99}}}}
        {"id":null,"error":{"code":-32700,"message":"parse error"}}
        \#(login)
        \#(limits(#""primary":{\#(session)},"secondary":{\#(weekly)}"#))
        \#(limits(#""primary":{"usedPercent":99}"#))
        # an impossible percentage is dropped -> weekly 8 until 21 17:00; plan Plus
        \#(login)
        \#(limits(#""primary":{"usedPercent":900,"windowDurationMins":300},"secondary":{\#(weekly)}"#))
        # one answer is missing -> no answer
        \#(start)
        \#(limits(#""primary":{\#(session)}"#))
        # without a login there is an error -> not signed in
        {"error":{"code":-32600,"message":"codex account authentication required to read rate limits"},"id":3}
        {"id":2,"result":{"account":null,"requiresOpenaiAuth":true,"workspaceRouting":null}}
        # an API key has no plan limits -> its login has no plan limits (apiKey)
        {"id":2,"result":{"account":{"type":"apiKey"},"requiresOpenaiAuth":true}}
        {"id":3,"error":{"code":-32600,"message":"chatgpt authentication required to read rate limits"}}
        # an error is shown without tokens and addresses -> it answers: 401 of [hidden]: token=[hidden]
        \#(login)
        {"id":3,"error":{"code":-32603,"message":"401 of bob@example.test: token=eyJhbGciOi123456"}}
        # a server that refuses to begin -> it answers: unsupported client
        {"id":1,"error":{"code":-32600,"message":"unsupported client"}}
        # null windows without credits are no answer -> its answer states no limits
        {"id":2,"result":{"account":{"type":"chatgpt","email":null},"requiresOpenaiAuth":true}}
        \#(limits(#""primary":null,"secondary":null,"credits":null,"planType":null"#))
        """#)

    @Test("answers of the app server", arguments: shapes)
    func answers(shape: LogShape) throws {
        let home = try AnsweredHome()
        let output = shape.log.replacing("LONG", with: String(repeating: "x", count: 300_000)) + "\n"
        do {
            guard let answer = try home.answer(output) else {
                #expect(shape.reading == "no answer")
                return
            }
            try home.keep(answer)
        } catch let error as CodexRefusal {
            #expect(error.reason == shape.reading)
            return
        }
        #expect(home.home.reading(of: CodexSource()).provider.summary == shape.reading)
        let file = try String(
            contentsOfFile: CodexAsking.path(
                of: home.home.path(".codex"), in: home.home.environment()), encoding: .utf8)
        #expect(!file.contains("bob") && !file.contains("@"))
    }

    @Test("an answer is the account's that is logged in unless something contradicts", arguments: AnswerOwnerCase.all)
    func owners(_ sample: AnswerOwnerCase) throws {
        let home = try AnsweredHome()
        if let login = sample.file() { try home.home.write(".codex/auth.json", login) }
        let address = sample.address.map { "\"\($0)\"" } ?? "null"
        let workspace = sample.workspace.map { "\"\($0)\"" } ?? "null"
        let output =
            #"{"id":2,"result":{"account":{"type":"chatgpt","email":\#(address),"planType":"plus"}}}"# + "\n"
            + Self.limits(#""primary":{\#(Self.session)}"#, #","accountId":\#(workspace)"#) + "\n"
        try home.keep(try #require(try home.answer(output)))
        let reading = home.home.reading(of: CodexSource())
        #expect((reading.percents ?? []) == (sample.isShown ? [21] : []))
        let finding = try #require(reading.findings.first { $0.title == "Codex itself" })
        #expect(finding.detail.hasPrefix(sample.isShown ? "session 21 % used; asked" : "the last answer is not about"))
    }

    @Test("of the answer and the sessions the newer one counts for each limit")
    func newest() throws {
        let home = try AnsweredHome()
        let output =
            Self.login + "\n"
            + Self.limits(
                #""limitId":"codex","primary":{\#(Self.session)}"#,
                #","rateLimitsByLimitId":{"codex_spark":{"limitName":"Spark","primary":{\#(Self.weekly)}}}"#)
            + "\n"
        try home.keep(try #require(try home.answer(output)))
        try home.home.write(CodexLines.name(1), CodexLines.usual("2026-09-18T11:58:00Z", 70, 71))
        #expect(home.home.reading(of: CodexSource()).percents == [21, 8])
        try home.home.append(CodexLines.name(1), CodexLines.usual("2026-09-18T11:59:30Z", 72, 73))
        #expect(home.home.reading(of: CodexSource()).percents == [72, 73, 8])
    }
}
