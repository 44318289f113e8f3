import Foundation
import Testing

@testable import UsagePusher

@Suite("Tokens of Kimi CLI and Kimi Code")
struct KimiTokenTests {
    @Test("what Kimi CLI has written", arguments: olderShapes)
    func older(_ shape: TokenShape) throws { try shape.check() }

    @Test("what Kimi Code has written", arguments: newerShapes)
    func newer(_ shape: TokenShape) throws { try shape.check() }

    @Test("other homes may be set")
    func override() throws {
        let home = try SampleHome()
        try home.write("older/sessions/ab12/s1/wire.jsonl", Self.update("c1"))
        try home.write("newer/sessions/wd_app_ab12/s2/agents/main/wire.jsonl", Self.usage())
        let variables = ["KIMI_SHARE_DIR": "~/older", "KIMI_CODE_HOME": home.path("newer")]
        #expect(home.tokens(of: "kimi") == [])
        #expect(home.tokens(of: "kimi", variables).count == 2)
    }

    // MARK: Kimi CLI

    private static let wire = ".kimi/sessions/ab12/s1/wire.jsonl"
    private static let line = "2026-09-17T10:00:00Z s1 in ab12, kimi-for-coding: in 100, read 4000, write 20, out 50"

    private static func payload(_ id: String, _ usage: String = counts) -> String {
        #"{"context_usage": 0.1, "token_usage": \#(usage), "message_id": "\#(id)"}"#
    }

    private static let counts =
        #"{"input_other": 100, "output": 50, "input_cache_read": 4000, "input_cache_creation": 20}"#

    private static func update(_ id: String, at time: String = "1789639200.25", _ usage: String = counts) -> String {
        #"{"timestamp": \#(time), "message": {"type": "StatusUpdate", "payload": \#(payload(id, usage))}}"# + "\n"
    }

    /// A subagent's step, passed on `depth` times.
    private static func event(_ id: String, depth: Int = 1, agent: String = "a1") -> String {
        var event = #"{"type": "StatusUpdate", "payload": \#(payload(id))}"#
        for _ in 0..<depth {
            event = #"{"type": "SubagentEvent", "payload": {"agent_id": "\#(agent)", "event": \#(event)}}"#
        }
        return #"{"timestamp": 1789641000.5, "message": \#(event)}"# + "\n"
    }

    private static let agentLine =
        "2026-09-17T10:30:00Z s1 in ab12, kimi-for-coding: in 100, read 4000, write 20, out 50"

    static let olderShapes: [TokenShape] = [
        TokenShape(
            "each step of the model counts, after a header or without one", of: "kimi",
            [
                wire: #"{"type": "metadata", "protocol_version": "1.10"}"# + "\n" + update("c1"),
                ".kimi/imported_sessions/s2/wire.jsonl": update("c2", at: "1789641000.5"),
            ],
            counts: [
                line,
                agentLine.replacing("s1 in ab12", with: "s2"),
            ]),
        TokenShape(
            "a subagent's model is named beside it", of: "kimi",
            [
                ".kimi/sessions/ab12/s1/subagents/a1/meta.json":
                    #"{"launch_spec": {"effective_model": "kimi-k2"}}"#,
                wire: event("c2") + event("c3", agent: "../a1"),
            ],
            counts: [agentLine, agentLine.replacing("kimi-for-coding", with: "kimi-k2")]),
        TokenShape(
            "the model is the one that the settings choose", of: "kimi",
            [
                ".kimi/config.toml": """
                default_model = "mine"  # the best
                [models."mine"]
                provider = "managed"
                model = "kimi-k2-thinking"
                [providers.x]
                model = "other"
                """,
                wire: update("c1"),
            ], counts: [line.replacing("kimi-for-coding", with: "kimi-k2-thinking")]),
        TokenShape(
            "older settings are a document", of: "kimi",
            [".kimi/config.json": #"{"model": "kimi-k1"}"#, wire: update("c1")],
            counts: [line.replacing("kimi-for-coding", with: "kimi-k1")]),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "kimi",
            [
                wire: update("c1", counts.replacing("100", with: "-1"))
                    + update("c2", counts.replacing("100", with: "1e30"))
                    + update("c3", at: "-5") + event("c4", depth: 40) + update("c5")
            ], counts: [line, "left out 3 of ~/\(wire)"]),
    ]

    // MARK: Kimi Code

    private static let project = ".kimi-code/sessions/wd_app_ab12"
    private static let newerLine =
        "2026-09-17T10:00:05Z session_1 in wd_app_ab12, kimi-code/k3: in 100, read 4000, out 50"

    private static func usage(at time: String = "1789639205002", _ usage: String = usual) -> String {
        #"{"type": "usage.record", "agentId": "main", "model": "kimi-code/k3", "usage": \#(usage), "#
            + #""usageScope": "turn", "time": \#(time)}"# + "\n"
    }

    private static let usual = #"{"inputOther": 100, "output": 50, "inputCacheRead": 4000, "inputCacheCreation": 0}"#
    private static let request =
        #"{"type": "llm.request", "model": "k3", "modelAlias": "kimi-code/k3", "time": 1789639200000}"#
        + "\n"

    static let newerShapes: [TokenShape] = [
        TokenShape(
            "the desktop app has a home of its own", of: "kimi",
            [
                "Library/Application Support/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/"
                    + "sessions/wd_app_ab12/session_1/agents/main/wire.jsonl": usage()
            ], counts: [newerLine]),
        TokenShape(
            "zeros are no record, and a line that is cut off waits for its end", of: "kimi",
            [
                project + "/session_1/agents/main/wire.jsonl":
                    usage(#"{"inputOther": 0, "output": 0, "inputCacheRead": 0, "inputCacheCreation": 0}"#)
                    + usage().dropLast(9)
            ], counts: []),
        TokenShape(
            "numbers that cannot be are left out, and counted", of: "kimi",
            [
                project + "/session_1/agents/main/wire.jsonl":
                    usage(usual.replacing("100", with: "-1")) + usage(at: "\"never\"") + usage()
            ],
            counts: [newerLine, "left out 2 of ~/\(project)/session_1/agents/main/wire.jsonl"]),
    ]
}
