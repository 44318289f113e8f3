import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Tokens of Gemini CLI")
struct GeminiTokenTests {
    @Test("what it has written", arguments: shapes)
    func shape(_ shape: TokenShape) throws { try shape.check() }

    @Test("another home may be set")
    func override() throws {
        let home = try SampleHome(copying: "gemini/usual")
        try home.createDirectory("elsewhere")
        try FileManager.default.moveItem(atPath: home.path(".gemini"), toPath: home.path("elsewhere/.gemini"))
        #expect(home.tokens(of: "gemini") == [])
        #expect(home.tokens(of: "gemini", ["GEMINI_CLI_HOME": home.path("elsewhere")]).count == 3)
    }

    @Test("a long chat counts with all of its messages")
    func long() throws {
        let home = try SampleHome()
        let replies = (0..<5_000).map { Self.reply("m\($0)", Self.usual) }
        try home.write(Self.chat, replies.joined(separator: "\n") + "\n")
        #expect(
            home.tokens(of: "gemini") == [
                Self.line.replacing("s1", with: "session-2026-11-20T09-00-5f0c2a4e")
                    .replacing(
                        "in 4000, read 8000, out 770, 420",
                        with: "in 20000000, read 40000000, out 3850000, 2100000")
                    + ", 5000 requests"
            ])
    }

    @Test(
        "the login says whose account it is",
        arguments: [
            (#"{"security": {"auth": {"selectedType": "oauth-personal"}}}"#, "dev@example.test"),
            (#"{"selectedAuthType": "oauth-personal"}"#, "dev@example.test"),
            (#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#, "API key"),
            (#"{"security": {"auth": {"selectedType": "vertex-ai"}}}"#, "Vertex AI"),
            (#"{"security": {"auth": {"selectedType": "new"}}}"#, nil), ("{}", nil), ("", nil),
        ])
    func account(settings: String, expected: String?) throws {
        let home = try SampleHome()
        try home.write(".gemini/settings.json", settings)
        try home.write(".gemini/google_accounts.json", #"{"active": "dev@example.test", "old": []}"#)
        let card = GeminiSource().read(in: home.environment(), at: sampleNow).provider
        #expect(card?.accountEmail ?? card?.loginMethod == expected)
        #expect((card?.accountEmail != nil) == (expected == "dev@example.test"))
    }

    private static let chat = ".gemini/tmp/app/chats/session-2026-11-20T09-00-5f0c2a4e.jsonl"
    private static let header =
        #"{"sessionId":"s1","projectHash":"ab12","startTime":"2026-11-20T09:00:00.000Z","kind":"main"}"#

    private static func reply(
        _ id: String, _ tokens: String, at time: String = "09:00:05", model: String = "gemini-3.1-pro-preview"
    ) -> String {
        #"{"id":"\#(id)","timestamp":"2026-11-20T\#(time).000Z","type":"gemini","content":"hi","#
            + #""tokens":\#(tokens),"model":"\#(model)"}"#
    }

    private static let usual = #"{"input":12000,"output":350,"cached":8000,"thoughts":420,"tool":0,"total":12770}"#
    private static let line =
        "2026-11-20T09:00:05Z s1 in app, gemini-3.1-pro-preview: in 4000, read 8000, out 770, 420 of it reasoning"

    private static func lines(_ lines: String...) -> String {
        ([header] + lines).joined(separator: "\n") + "\n"
    }

    static let shapes: [TokenShape] = [
        TokenShape(
            "what was put aside, other documents and other types of messages are not read",
            of: "gemini",
            [
                chat + ".unreadable-1795165205000": lines(reply("m2", usual)),
                chat + ".tmp-12": lines(reply("m2", usual)),
                ".gemini/tmp/app/chats/saved.json":
                    #"{"stats":{"models":{"gemini-3":{"tokens":{"prompt":9}}}}}"#,
                ".gemini/tmp/app/logs.jsonl": lines(reply("m2", usual)),
                chat: lines(reply("m2", usual).replacing("\"gemini\"", with: "\"info\"")),
            ], counts: []),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "gemini",
            [
                chat: lines(
                    reply("m2", #"{"input":-1,"output":350,"cached":8000}"#),
                    reply("m3", #"{"input":1e18,"output":4611686018427387903,"thoughts":4611686018427387903}"#),
                    reply("m4", #"{"input":"many","output":1}"#),
                    reply("m5", usual, at: "99:00:05"), reply("m6", "[1,2]"), reply("m7", usual))
            ],
            counts: [line, "left out 4 of ~/\(chat)"]),
    ]
}
