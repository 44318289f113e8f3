import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Tokens of Grok Build")
struct GrokTokenTests {
    @Test("what it has written", arguments: shapes)
    func shape(_ shape: TokenShape) throws { try shape.check() }

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

    private static func turn(_ prompt: String, at time: String = "1789639205", _ usage: String? = nil) -> String {
        let usage = usage ?? #"{\#(counts), "modelUsage": {"grok-build": {\#(counts)}}, "numTurns": 2}"#
        return
            #"{"timestamp": \#(time), "method": "_x.ai/session/update", "params": {"sessionId": "s9", "update": "#
            + #"{"sessionUpdate": "turn_completed", "prompt_id": "\#(prompt)", "usage": \#(usage)}}}"#
            + "\n"
    }

    private static let later = line.replacing("10:00:05", with: "10:30:00")

    static let shapes: [TokenShape] = [
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
