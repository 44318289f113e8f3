import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Tokens of Grok Build")
struct GrokTokenTests {
    @Test("what it has written", arguments: shapes)
    func shape(_ shape: TokenShape) throws { try shape.check() }

    @Test("a session that is read while it grows", arguments: shapes)
    func steps(_ shape: TokenShape) throws { try shape.checkInTwoSteps() }

    @Test("another home may be set")
    func override() throws {
        let home = try SampleHome()
        try home.write("elsewhere/sessions/%2Fsrc%2Fapp/s1/updates.jsonl", Self.turn("p1"))
        try home.write("elsewhere/auth.json", #"{"x": {"email": "dev@example.test"}}"#)
        #expect(home.tokens(of: "grok") == [])
        let variables = ["GROK_HOME": home.path("elsewhere")]
        #expect(home.tokens(of: "grok", variables) == [Self.line])
        let reading = GrokSource().read(in: home.environment(variables), at: sampleNow)
        #expect(reading.provider?.accountEmail == "dev@example.test")
    }

    @Test(
        "of a login only the address is read",
        arguments: [
            (
                #"{"https://accounts.x.ai/sign-in": {"email": "old@example.test"}, "https://auth.x.ai::id":"#
                    + #" {"key": "SYNTHETIC-NOT-A-KEY", "email": "dev@example.test"}}"#,
                "dev@example.test"
            ),
            (
                #"{"https://accounts.x.ai/sign-in": {"key": "SYNTHETIC-NOT-A-KEY", "email": "old@example.test"}}"#,
                "old@example.test"
            ),
            (#"{"xai": {"key": "SYNTHETIC-NOT-A-KEY"}}"#, nil), (#"{"email": 7}"#, nil), ("[", nil),
        ])
    func account(login: String, address: String?) throws {
        let home = try SampleHome()
        try home.write(".grok/auth.json", login)
        let card = GrokSource().read(in: home.environment(), at: sampleNow).provider
        #expect(card?.accountEmail == address && card?.loginMethod == nil)
    }

    private static let sessions = ".grok/sessions/%2Fsrc%2Fapp/"
    private static let line =
        "2026-09-17T10:00:05Z s1 in /src/app, grok-build: in 80, read 4000, write 20, out 50, 10 of it reasoning, $0.0042 of its own"
    private static let counts =
        #""inputTokens": 4100, "outputTokens": 50, "totalTokens": 4150, "cachedReadTokens": 4000, "#
        + #""cacheCreationTokens": 20, "reasoningTokens": 10, "costUsdTicks": 42000000"#

    private static func turn(
        _ prompt: String, at time: String = "1789639205", _ usage: String? = nil
    ) -> String {
        let usage =
            usage ?? #"{\#(counts), "modelUsage": {"grok-build": {\#(counts)}}, "numTurns": 2}"#
        return
            #"{"timestamp": \#(time), "method": "_x.ai/session/update", "params": {"sessionId": "s9", "update": "#
            + #"{"sessionUpdate": "turn_completed", "prompt_id": "\#(prompt)", "usage": \#(usage)}}}"#
            + "\n"
    }

    private static let later = line.replacing("10:00:05", with: "10:30:00")

    static let shapes: [TokenShape] = [
        TokenShape(
            "the prompt includes the cache, output the reasoning, and a dollar is 10¹⁰ ticks",
            of: "grok", [sessions + "s1/updates.jsonl": turn("p1")], counts: [line]),
        TokenShape(
            "each model of a prompt counts instead of the sum", of: "grok",
            [
                sessions + "s1/updates.jsonl": turn(
                    "p1",
                    #"{"inputTokens": 110, "outputTokens": 9, "costUsdTicks": 30000000000, "modelUsage": {"#
                        + #""grok-build": {"inputTokens": 100, "outputTokens": 5, "costUsdTicks": 20000000000}, "#
                        + #""grok-fast": {"inputTokens": 10, "outputTokens": 4}}}"#)
            ],
            counts: [
                "2026-09-17T10:00:05Z s1 in /src/app, grok-build: in 100, out 5, $2.0 of its own",
                "2026-09-17T10:00:05Z s1 in /src/app, grok-fast: in 10, out 4",
            ]),
        TokenShape(
            "without models the sum counts for the session's", of: "grok",
            [
                sessions + "s1/summary.json":
                    #"{"info": {"id": "s1", "cwd": "/src/app"}, "current_model_id": "grok-build"}"#,
                sessions + "s1/updates.jsonl": turn("p1", "{\(counts), \"modelUsage\": {}}"),
            ], counts: [line]),
        TokenShape(
            "an incomplete cost is ignored, and so is 0", of: "grok",
            [
                sessions + "s1/updates.jsonl":
                    turn(
                        "p1",
                        #"{"modelUsage": {"grok-build": {\#(counts)}}, "usageIsIncomplete": true}"#)
                    + turn("p2", at: "1789641000", "{\(counts), \"costIsPartial\": true}")
                    + turn(
                        "p3", at: "1789642800", "{\(counts.replacing("42000000", with: "0"))}")
            ],
            counts: [
                line.replacing(", $0.0042 of its own", with: ""),
                later.replacing(", $0.0042 of its own", with: "")
                    .replacing("grok-build", with: "no model"),
                line.replacing(", $0.0042 of its own", with: "")
                    .replacing("grok-build", with: "no model").replacing(
                        "10:00:05", with: "11:00:00"),
            ]),
        TokenShape(
            "a prompt that is stated again counts once, with the larger numbers", of: "grok",
            [
                sessions + "s1/updates.jsonl":
                    turn(
                        "p1", at: "1789639201",
                        "{\"modelUsage\": {\"grok-build\": {\"inputTokens\": 5}}}")
                    + turn("p1")
            ], counts: [line]),
        TokenShape(
            "copies in a fork have the time of the copy, and the earlier line counts", of: "grok",
            [
                sessions + "s1/updates.jsonl": turn("p1"),
                sessions + "s0/summary.json":
                    #"{"info": {"id": "s0", "cwd": "/src/app"}, "session_kind": "fork", "parent_session_id": "s1"}"#,
                sessions + "s0/updates.jsonl":
                    turn("p1", at: "1789640000") + turn("p2", at: "1789641000"),
            ], counts: [line, later.replacing("s1", with: "s0")]),
        TokenShape(
            "a subagent's tokens are in the session that it works for, if that is there",
            of: "grok",
            [
                sessions + "s1/updates.jsonl": turn("p1"),
                ".grok/sessions/other/a1/summary.json":
                    #"{"session_kind": "subagent_fork", "parent_session_id": "s1"}"#,
                ".grok/sessions/other/a1/updates.jsonl": turn("p7"),
                ".grok/sessions/other/a2/summary.json":
                    #"{"session_kind": "subagent", "parent_session_id": "gone"}"#,
                ".grok/sessions/other/a2/updates.jsonl": turn("p8", at: "1789641000"),
                ".grok/sessions/other/a3/summary.json": #"{"session_kind": "subagent"}"#,
                ".grok/sessions/other/a3/updates.jsonl": turn("p9"),
            ],
            counts: [line, later.replacing("s1 in /src/app", with: "a2 in other")]),
        TokenShape(
            "the directory is in the summary, beside the session or in the name", of: "grok",
            [
                ".grok/sessions/slug-1/.cwd": "/src/long\n",
                ".grok/sessions/slug-1/s1/updates.jsonl": turn("p1"),
                ".grok/sessions/slug-2/s2/summary.json": #"{"info": {"cwd": "/src/two"}}"#,
                ".grok/sessions/slug-2/s2/updates.jsonl": turn("p2", at: "1789641000"),
            ],
            counts: [
                line.replacing("/src/app", with: "/src/long"),
                later.replacing("s1 in /src/app", with: "s2 in /src/two"),
            ]),
        TokenShape(
            "other updates, a turn without usage and the size of the context are no tokens",
            of: "grok",
            [
                sessions + "s1/signals.json":
                    #"{"totalTokensBeforeCompaction": 12000, "contextTokensUsed": 3400}"#,
                sessions + "s1/updates.jsonl":
                    turn("p1").replacing("turn_completed", with: "turn_started")
                    + turn("p2").replacing("_x.ai/session/update", with: "session/update")
                    + turn("p3", "null") + turn("p4", #"{"_meta": {"totalTokens": 12}}"#),
            ], counts: []),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "grok",
            [
                sessions + "s1/updates.jsonl":
                    turn("p1", #"{"inputTokens": 5, "cachedReadTokens": -5}"#)
                    + turn("p2", #"{"inputTokens": 1e300}"#) + turn("p3", at: "1e300")
                    + turn(
                        "p4",
                        String(repeating: #"{"modelUsage": {"a": "#, count: 9_000) + "1"
                            + String(repeating: "}}", count: 9_000))
                    + turn("p5")
            ], counts: [line, "left out 3 of ~/\(sessions)s1/updates.jsonl"]),
    ]
}
