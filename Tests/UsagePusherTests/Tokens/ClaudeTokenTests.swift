import Foundation
import Testing

@testable import UsagePusher

@Suite("Tokens of Claude Code")
struct ClaudeTokenTests {
    private static let path = ".claude/projects/-src-app/s1.jsonl"

    /// A line of an answer.
    private static func line(
        _ id: String, request: String? = "r", model: String = "claude-opus-5", usage: String, more: String = ""
    ) -> String {
        #"{"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","sessionId":"s1","#
            + (request.map { #""requestId":"\#($0)","# } ?? "") + more
            + #""message":{"id":"\#(id)","model":"\#(model)","content":[{"type":"text","text":"\"usage\":{"}],"usage":{\#(usage)}}}"#
            + "\n"
    }

    static let shapes: [GrowingLogShape] = [
        GrowingLogShape(
            "an answer that is written while it grows counts once, with its adviser apart",
            [
                path: #"""
                {"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","sessionId":"s1","requestId":"req_1","uuid":"u1","version":"2.1.300","cwd":"/src/app","isSidechain":false,"message":{"id":"msg_1","role":"assistant","model":"claude-sonnet-5","stop_reason":null,"content":[],"usage":{"input_tokens":1500,"cache_creation_input_tokens":1500,"cache_read_input_tokens":9000,"output_tokens":2}}}
                {"type":"assistant","timestamp":"2026-11-20T09:00:05.000Z","sessionId":"s1","requestId":"req_1","uuid":"u2","version":"2.1.300","cwd":"/src/app","isSidechain":false,"message":{"id":"msg_1","role":"assistant","model":"claude-sonnet-5","stop_reason":"end_turn","content":[],"usage":{"input_tokens":1500,"cache_creation_input_tokens":1500,"cache_read_input_tokens":9000,"output_tokens":400,"cache_creation":{"ephemeral_5m_input_tokens":500,"ephemeral_1h_input_tokens":1000},"output_tokens_details":{"thinking_tokens":150},"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0},"service_tier":"standard","speed":"standard","inference_geo":"not_available","iterations":[{"type":"message","input_tokens":1500,"output_tokens":400,"cache_read_input_tokens":9000,"cache_creation_input_tokens":1500},{"type":"advisor_message","model":"claude-opus-5","input_tokens":12000,"output_tokens":300,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}]}}}
                """# + "\n"
            ],
            reads:
                "claude-sonnet-5: 1 × input 1500, output 400 (reasoning 150), read 9000, write 500 + 1000, searches 1",
            "claude-opus-5: 1 × input 12000, output 300"),
        GrowingLogShape(
            "a refused answer counts beside the one that another model gave in its place",
            [
                path: #"""
                {"type":"assistant","timestamp":"2026-11-20T09:01:05.000Z","sessionId":"s1","requestId":"req_2","uuid":"u3","cwd":"/src/app","message":{"id":"msg_2","role":"assistant","model":"claude-opus-5","content":[],"usage":{"input_tokens":412,"output_tokens":264,"cache_read_input_tokens":96,"cache_creation_input_tokens":31,"iterations":[{"type":"message","model":"claude-fable-5","input_tokens":535,"output_tokens":148,"cache_read_input_tokens":0,"cache_creation_input_tokens":0},{"type":"fallback_message","model":"claude-opus-5","input_tokens":412,"output_tokens":264,"cache_read_input_tokens":96,"cache_creation_input_tokens":31}]}}}
                {"type":"user","timestamp":"2026-11-20T09:02:00.000Z","sessionId":"s1","uuid":"u4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"…"}]},"toolUseResult":{"query":"swift","searchCount":2,"results":[]}}
                """# + "\n"
            ],
            reads: "claude-opus-5: 1 × input 412, output 264, read 96, write 31, searches 2",
            "claude-fable-5: 1 × input 535, output 148"),
        GrowingLogShape(
            "cache writes without a split are of five minutes",
            [
                path: line(
                    "m1",
                    usage:
                        #""input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":30,"cache_read_input_tokens":null"#
                )
            ],
            reads: "claude-opus-5: 1 × input 1, output 2, write 30"),
        GrowingLogShape(
            "a split that is written before the sum replaces it as well",
            [
                path: line(
                    "m1",
                    usage:
                        #""cache_creation":{"ephemeral_1h_input_tokens":20,"ephemeral_5m_input_tokens":10},"cache_creation_input_tokens":30,"input_tokens":1,"output_tokens":2"#
                )
            ],
            reads: "claude-opus-5: 1 × input 1, output 2, write 10 + 20"),
        GrowingLogShape(
            "one answer of two requests counts twice, without a request once more",
            [
                path: line("m1", request: "a", usage: #""input_tokens":1,"output_tokens":2"#)
                    + line("m1", request: "b", usage: #""input_tokens":1,"output_tokens":2"#)
                    + line("m1", request: nil, usage: #""input_tokens":1,"output_tokens":2"#)
            ],
            reads: "claude-opus-5: 3 × input 3, output 6"),
        GrowingLogShape(
            "answers without an id all count",
            [
                path: String(
                    repeating:
                        #"{"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#
                        + "\n", count: 3)
            ],
            reads: "m: 3 × input 3, output 3"),
        GrowingLogShape(
            "the usage in the result of a tool, of a user's line or of a summary is no answer",
            [
                path: #"""
                {"type":"user","timestamp":"2026-11-20T09:00:04.000Z","message":{"role":"user","content":[{"usage":{"input_tokens":5,"output_tokens":5}}]},"toolUseResult":{"usage":{"input_tokens":5,"output_tokens":5}}}
                {"type":"summary","summary":"\"usage\":{\"input_tokens\":5}","message":{"usage":{"input_tokens":5,"output_tokens":5}}}
                {"usage":{"input_tokens":5,"output_tokens":5},"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","message":{"content":[{"usage":{"input_tokens":5,"output_tokens":5}}]}}
                """# + "\n"
            ]),
        GrowingLogShape(
            "numbers that no request has are left out",
            [
                path: line("m1", usage: #""input_tokens":99999999999,"output_tokens":2"#)
                    + line("m2", usage: #""input_tokens":-5,"output_tokens":2"#)
            ]),
    ]

    @Test("shapes", arguments: shapes)
    func shape(_ shape: GrowingLogShape) throws { try shape.check(ClaudeTokens()) }

    @Test("the sample home gives what was counted by hand, also when read again")
    func sample() throws {
        let home = try TokenHome(copying: "claude/usual", logs: [ClaudeTokens()])
        for _ in 0..<2 {
            let usage = home.usage()
            #expect(usage.requestCount == 6)
            #expect(usage.total == TokenCounts(input: 115, output: 960, cacheRead: 36_700, cacheWrite5m: 500))
        }
    }

    @Test("the desktop program's sessions are read below their projects, and nothing else there")
    func desktop() throws {
        let home = try TokenHome(logs: [ClaudeTokens()])
        let root = ".config/Claude/local-agent-mode-sessions/a/b/"
        let text = Self.line("m1", usage: #""input_tokens":1,"output_tokens":2"#)
        try home.home.write(root + ".claude/projects/-src-app/s1.jsonl", text)
        try home.home.write(root + "other.jsonl", text.replacing("m1", with: "m2"))
        #expect(home.usage().summary == ["claude s1 -src-app claude-opus-5: 1 × input 1, output 2"])
    }

    @Test("the desktop program's sessions are where the environment puts configuration")
    func desktopElsewhere() throws {
        let home = try TokenHome(logs: [ClaudeTokens()])
        try home.home.write(
            "cfg/Claude/local-agent-mode-sessions/a/projects/-src-app/s1.jsonl",
            Self.line("m1", usage: #""input_tokens":1,"output_tokens":2"#))
        #expect(home.usage(["XDG_CONFIG_HOME": home.home.path("cfg")]).requestCount == 1)
    }

    @Test("an answer without an id keeps the cost that its line states")
    func costWithoutID() throws {
        let home = try SampleHome()
        let line = Self.line("m1", usage: #""input_tokens":1,"output_tokens":2"#, more: #""costUSD":0.25,"#)
        try home.write(Self.path, line.replacing(#""id":"m1","#, with: ""))
        #expect(
            home.tokens(of: "claude") == [
                "2026-11-20T09:00:04Z s1 in -src-app, claude-opus-5: in 1, out 2, $0.25 of its own"
            ])
    }
}
