import Foundation
import Testing

@testable import UsagePusher

@Suite("Tokens of Qwen Code")
struct QwenTokenTests {
    @Test("what it has written", arguments: shapes)
    func shape(_ shape: TokenShape) throws { try shape.check() }

    @Test(
        "another directory may be set",
        arguments: [
            (["QWEN_HOME": "~/elsewhere"], ""), (["QWEN_RUNTIME_DIR": "~/elsewhere"], ""),
            ([:], #"{"advanced": {"runtimeOutputDir": "~/elsewhere/"}}"#),
        ])
    func override(variables: [String: String], settings: String) throws {
        let home = try SampleHome()
        try home.write(".qwen/settings.json", settings)
        try home.write("elsewhere/usage/token-usage-2026-11.jsonl", Self.ledger("r1"))
        #expect(home.tokens(of: "qwen", variables) == [Self.line])
    }

    private static let month = ".qwen/usage/token-usage-2026-11.jsonl"
    private static let chat = ".qwen/projects/-src-app/chats/s1.jsonl"
    private static let line =
        "2026-11-20T09:00:05Z s1, qwen3-coder-plus: in 4000, read 8000, out 700, 300 of it reasoning"
    private static let chatLine = line.replacing("s1,", with: "s1 in -src-app,")

    private static func ledger(
        _ id: String, at time: String = "09:00:05", _ counts: String = usualLedger, session: String = "s1"
    ) -> String {
        #"{"schemaVersion":1,"id":"\#(id)","timestamp":"2026-11-20T\#(time).000Z","localMonth":"2026-11","#
            + #""sessionId":"\#(session)","model":"qwen3-coder-plus","authType":"qwen-oauth","source":"main",\#(counts)}"#
            + "\n"
    }

    private static let usualLedger =
        #""inputTokens":12000,"outputTokens":700,"cachedTokens":8000,"thoughtsTokens":300,"totalTokens":12700"#
    private static let usualChat =
        #""promptTokenCount":12000,"candidatesTokenCount":700,"thoughtsTokenCount":300,"#
        + #""totalTokenCount":12700,"cachedContentTokenCount":8000"#

    private static func reply(
        _ id: String, at time: String = "09:00:05", _ counts: String = usualChat,
        session: String = "s1", more: String = #","model":"qwen3-coder-plus""#
    ) -> String {
        #"{"uuid":"\#(id)","sessionId":"\#(session)","timestamp":"2026-11-20T\#(time).100Z","type":"assistant","#
            + #""cwd":"/src/app","message":{"role":"model"},"usageMetadata":{\#(counts)}\#(more)}"#
            + "\n"
    }

    static let shapes: [TokenShape] = [
        TokenShape(
            "another version of the ledger is not read", of: "qwen",
            [month: ledger("r1").replacing(#""schemaVersion":1"#, with: #""schemaVersion":2"#)],
            counts: []),
        TokenShape(
            "a reply without numbers, or with zeros, is ignored", of: "qwen",
            [
                chat: reply("u1", #""promptTokenCount":0,"candidatesTokenCount":0"#)
                    + reply("u2", "")
                    + #"{"uuid":"u3","sessionId":"s1","timestamp":"2026-11-20T09:00:05Z","type":"assistant"}"#
                    + "\n"
            ], counts: []),
        TokenShape(
            "behind a torn record the one on the same line is read", of: "qwen",
            [chat: reply("u1").dropLast(4) + reply("u2", at: "09:20:00")],
            counts: [chatLine.replacing("09:00:05", with: "09:20:00")]),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "qwen",
            [
                month: ledger("r1", #""inputTokens":-5,"outputTokens":700"#)
                    + ledger("r2", #""inputTokens":5,"outputTokens":99999999999"#)
                    + ledger("r3", at: "25:00:00") + ledger("r4")
            ], counts: [line, "left out 3 of ~/\(month)"]),
    ]
}
