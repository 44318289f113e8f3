import Foundation
import Testing

@testable import UsagePusher

@Suite("Tokens of Droid")
struct DroidTokenTests {
    @Test("what it has written", arguments: shapes)
    func shape(_ shape: TokenShape) throws { try shape.check() }

    @Test("counts that grow replace those before")
    func growth() throws {
        let home = try SampleHome()
        try home.write(Self.path, Self.settings())
        try home.write(Self.chat, Self.session + Self.message())
        #expect(home.tokens(of: "factory") == [Self.line])
        try home.append(Self.chat, Self.message("2026-11-20T09:20:00Z"))
        try home.write(Self.path, Self.settings(Self.usage.replacing("9000", with: "19000")))
        #expect(
            home.tokens(of: "factory") == [
                Self.line.replacing("09:00:05", with: "09:20:00").replacing("9000", with: "19000")
            ])
    }

    @Test("a chat is read from its end, whatever its length")
    func longChat() throws {
        let home = try SampleHome()
        try home.write(Self.path, Self.settings())
        let result = #"{"type":"todo_state","timestamp":7,"text":"\#(String(repeating: "x", count: 3_000_000))"}"#
        try home.write(Self.chat, Self.session + Self.message("2026-11-20T08:00:00Z") + Self.message() + result + "\n")
        #expect(home.tokens(of: "factory") == [Self.line])
    }

    private static let path = ".factory/sessions/-src-app/s1.settings.json"
    private static let chat = ".factory/sessions/-src-app/s1.jsonl"
    private static let line =
        "2026-11-20T09:00:05Z s1 in /src/app, claude-sonnet-5: in 1500, read 9000, write 1500, out 400, 150 of it reasoning, coarse"
    private static let session = #"{"type":"session_start","id":"s1","title":"t","version":2,"cwd":"/src/app"}"# + "\n"
    private static let usage =
        #"{"inputTokens":1500,"outputTokens":250,"cacheCreationTokens":1500,"cacheReadTokens":9000,"#
        + #""thinkingTokens":150,"factoryCredits":4200}"#

    private static func message(_ time: String = "2026-11-20T09:00:05.000Z", text: String = "hi") -> String {
        #"{"type":"message","id":"m1","timestamp":"\#(time)","message":{"content":[{"text":"\#(text)"}]}}"# + "\n"
    }

    private static func settings(
        _ usage: String = usage, model: String? = "claude-sonnet-5", more: String = ""
    ) -> String {
        let model = model.map { #""model":"\#($0)","# } ?? ""
        return #"{"assistantActiveTimeMs":5200,\#(model)"providerLock":"anthropic","#
            + #""providerLockTimestamp":"2026-11-19T09:00:00.000Z","tokenUsage":\#(usage)\#(more)}"#
    }

    static let shapes: [TokenShape] = [
        TokenShape(
            "input is without the cache, thinking is beside output, and the last message has the time",
            of: "factory", [path: settings(), chat: session + message()], counts: [line]),
        TokenShape(
            "without a chat the time is the document's", of: "factory", [path: settings()],
            counts: [
                line.replacing("2026-11-20T09:00:05Z s1 in /src/app", with: "2026-09-18T12:00:00Z s1 in -src-app")
            ]),
        TokenShape(
            "a time may be in milliseconds", of: "factory",
            [
                path: settings(),
                chat: session + message().replacing("\"2026-11-20T09:00:05.000Z\"", with: "1795165205000"),
            ], counts: [line]),
        TokenShape(
            "what subagents used is in files of their own", of: "factory",
            [
                path: settings(
                    more:
                        #","inclusiveTokenUsage":{"inputTokens":9500},"lastCallTokenUsage":{"inputTokens":7},"#
                        + #""childInclusiveTokenUsageBySessionId":{"s2":{"inputTokens":8000}}"#),
                chat: session + message(),
                ".factory/sessions/-src-app/s2.settings.json": settings(#"{"inputTokens":8000}"#),
                ".factory/sessions/-src-app/s2.jsonl": session + message("2026-11-20T09:20:00Z"),
            ],
            counts: [
                line, "2026-11-20T09:20:00Z s2 in /src/app, claude-sonnet-5: in 8000, coarse",
            ]),
        TokenShape(
            "a session that was moved counts once", of: "factory",
            [
                path: settings(), chat: session + message(),
                ".factory/sessions/s1.settings.json": settings(#"{"inputTokens":7}"#),
            ], counts: [line]),
        TokenShape(
            "no counts, or zeros, are no tokens", of: "factory",
            [
                path: settings(#"{"inputTokens":0,"outputTokens":0}"#),
                ".factory/sessions/-src-app/s2.settings.json": #"{"model":"claude-sonnet-5"}"#,
                ".factory/sessions/-src-app/s3.settings.json": settings("null"),
            ], counts: []),
        TokenShape(
            "a model of the user's own is named without its number and mark", of: "factory",
            [
                path: settings(model: "custom:claude-sonnet-5-[Anthropic]-0"),
                chat: session + message(),
            ], counts: [line]),
        TokenShape(
            "a number at the end of another model's name is a part of it", of: "factory",
            [path: settings(model: "claude-sonnet-5-[fast]"), chat: session + message()], counts: [line]),
        TokenShape(
            "a model that the settings do not name is in a text of the chat", of: "factory",
            [
                path: settings(model: nil),
                chat: session
                    + message("2026-11-20T08:00:00Z", text: "Model: Claude Sonnet 5 [x]\\nOS: Linux")
                    + message(),
            ], counts: [line]),
        TokenShape(
            "a document that is cut off is read when it is whole", of: "factory",
            [path: settings().dropLast(3) + "", chat: session + message()], counts: []),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "factory",
            [path: settings(#"{"inputTokens":-5,"outputTokens":7}"#), chat: session + message()],
            counts: ["left out 1 of ~/\(path)"]),
    ]
}
