import Foundation
import Testing

@testable import UsagePusher

@Suite("Tokens of Amp")
struct AmpTokenTests {
    @Test("what it has written", arguments: shapes)
    func shape(_ shape: TokenShape) throws { try shape.check() }

    @Test("a thread that is written again replaces what was read of it")
    func rewritten() throws {
        let home = try SampleHome()
        try home.write(Self.path, Self.thread(Self.reply(1), Self.reply(2, at: "09:20:00")))
        #expect(home.tokens(of: "amp").count == 2)
        try home.write(Self.path, Self.thread(Self.reply(1)) + " ")
        #expect(home.tokens(of: "amp") == [Self.line])
        try home.write(Self.path, Self.thread(Self.reply(1)).dropLast(9) + "")
        #expect(home.tokens(of: "amp") == [])
    }

    @Test("another directory of data may be set")
    func override() throws {
        let home = try SampleHome()
        try home.write("data/amp/threads/T-1.json", Self.thread(Self.reply(1)))
        #expect(home.tokens(of: "amp") == [])
        #expect(home.tokens(of: "amp", ["XDG_DATA_HOME": home.path("data")]) == [Self.line])
    }

    private static let path = ".local/share/amp/threads/T-1.json"
    private static let line =
        "2026-11-20T09:00:05Z T-1 in /src/app, claude-sonnet-5: in 1500, read 9000, write 1500, out 400"

    private static func thread(_ messages: String..., events: String? = nil) -> String {
        let ledger = events.map { #", "usageLedger": {"events": [\#($0)]}"# } ?? ""
        return
            #"{"v": 120, "id": "T-1", "created": 1795165200000, "title": "t", "env": {"initial": {"trees": "#
            + #"[{"displayName": "app", "uri": "file:///src/app"}]}}, "messages": ["#
            + #"{"role": "user", "messageId": 0}, \#(messages.joined(separator: ","))]\#(ledger)}"#
    }

    private static func reply(
        _ id: Int, at time: String? = "09:00:05", _ counts: String = usual, role: String = "assistant"
    ) -> String {
        let time = time.map { #", "timestamp": "2026-11-20T\#($0).000Z""# } ?? ""
        return
            #"{"role": "\#(role)", "messageId": \#(id), "content": [], "usage": {\#(counts)\#(time)}}"#
    }

    private static let usual =
        #""model": "claude-sonnet-5", "inputTokens": 1500, "outputTokens": 400, "#
        + #""cacheCreationInputTokens": 1500, "cacheReadInputTokens": 9000, "totalInputTokens": 12000, "credits": 3.2"#

    private static func event(
        _ id: String, _ tokens: String = #""input": 1500, "output": 400"#, to message: Int = 1
    ) -> String {
        #"{"id": "\#(id)", "timestamp": "2026-11-20T09:00:05.000Z", "model": "claude-sonnet-5", "credits": 3.2, "#
            + #""operationType": "inference", "fromMessageId": 0, "toMessageId": \#(message), "tokens": {\#(tokens)}}"#
    }

    static let shapes: [TokenShape] = [
        TokenShape(
            "input is without the cache, and credits are no dollars", of: "amp",
            [path: thread(reply(1))], counts: [line]),
        TokenShape(
            "a thread with an empty ledger is read by its messages", of: "amp",
            [path: thread(reply(1), events: "")], counts: [line]),
        TokenShape(
            "a thread with a ledger is read by it, with the messages' caches", of: "amp",
            [path: thread(reply(1, at: nil), events: event("e1"))], counts: [line]),
        TokenShape(
            "an event's own cache counts before a message's", of: "amp",
            [
                path: thread(reply(1), events: event("e1", #""input": 1500, "output": 400, "cacheReadInputTokens": 7"#))
            ], counts: [line.replacing("read 9000, write 1500", with: "read 7")]),
        TokenShape(
            "the ledger may be written before the messages", of: "amp",
            [
                path:
                    #"{"usageLedger": {"events": [\#(event("e1"))]}, "id": "T-1", "messages": [\#(reply(1))]}"#
            ], counts: [line.replacing(" in /src/app", with: "")]),
        TokenShape(
            "a prompt that was read from caches alone counts", of: "amp",
            [path: thread(reply(1, usual.replacing("\"inputTokens\": 1500", with: "\"inputTokens\": 0")))],
            counts: [line.replacing("in 1500, ", with: "")]),
        TokenShape(
            "what models of OpenAI seem to write to a cache is uncached input", of: "amp",
            [
                path: thread(
                    reply(
                        1,
                        usual.replacing("\"inputTokens\": 1500", with: "\"inputTokens\": 0")
                            .replacing("claude-sonnet-5", with: "gpt-5.2")))
            ],
            counts: ["2026-11-20T09:00:05Z T-1 in /src/app, gpt-5.2: in 1500, read 9000, out 400"]),
        TokenShape(
            "a message without a time is as old as its thread, coarsely", of: "amp", [path: thread(reply(1, at: nil))],
            counts: [line.replacing("09:00:05", with: "09:00:00") + ", coarse"]),
        TokenShape(
            "messages of users, and without usage, are no tokens", of: "amp",
            [path: thread(reply(1, role: "user"), #"{"role": "assistant", "messageId": 2}"#)],
            counts: []),
        TokenShape(
            "the numbers of messages count within their thread", of: "amp",
            [
                path: thread(reply(1)),
                ".local/share/amp/threads/T-2.json": thread(reply(1)).replacing("T-1", with: "T-2"),
                ".local/share/amp/threads/copy/T-1.json": thread(reply(1)),
            ], counts: [line, line.replacing("T-1", with: "T-2")]),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "amp",
            [
                path: thread(
                    reply(1, #""inputTokens": -5"#), reply(2, #""outputTokens": 1e300"#), "7", "[]",
                    reply(3, #""inputTokens": {}"#), reply(4))
            ], counts: [line, "left out 3 of ~/\(path)"]),
    ]
}
