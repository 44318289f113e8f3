import Foundation
import Testing

@testable import UsagePusher

/// What `HistoryTests` and the tests of hostile files do not decide.
@Suite("Shapes of token logs")
struct TokenShapeTests {
    @Test("what a tool has written", arguments: claude + codex + gemini + qwen + kimi + grok + amp + droid)
    func shape(_ shape: TokenShape) throws { try shape.check() }

    // MARK: Claude Code

    private static func claudeLine(_ request: String?) -> String {
        #"{"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","sessionId":"s1","#
            + (request.map { #""requestId":"\#($0)","# } ?? "")
            + #""message":{"id":"m1","model":"claude-opus-5","content":[{"type":"text","text":"\"usage\":{"}],"usage":{"input_tokens":1,"output_tokens":2}}}"#
    }

    private static let claude = TokenShape.table(
        of: "claude", at: ".claude/projects/-src-app/s1.jsonl",
        #"""
        # an answer that is written while it grows counts once, with its adviser apart
        {"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","sessionId":"s1","requestId":"req_1","uuid":"u1","version":"2.1.300","cwd":"/src/app","isSidechain":false,"message":{"id":"msg_1","role":"assistant","model":"claude-sonnet-5","stop_reason":null,"content":[],"usage":{"input_tokens":1500,"cache_creation_input_tokens":1500,"cache_read_input_tokens":9000,"output_tokens":2}}}
        {"type":"assistant","timestamp":"2026-11-20T09:00:05.000Z","sessionId":"s1","requestId":"req_1","uuid":"u2","version":"2.1.300","cwd":"/src/app","isSidechain":false,"message":{"id":"msg_1","role":"assistant","model":"claude-sonnet-5","stop_reason":"end_turn","content":[],"usage":{"input_tokens":1500,"cache_creation_input_tokens":1500,"cache_read_input_tokens":9000,"output_tokens":400,"cache_creation":{"ephemeral_5m_input_tokens":500,"ephemeral_1h_input_tokens":1000},"output_tokens_details":{"thinking_tokens":150},"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0},"service_tier":"standard","speed":"standard","inference_geo":"not_available","iterations":[{"type":"message","input_tokens":1500,"output_tokens":400,"cache_read_input_tokens":9000,"cache_creation_input_tokens":1500},{"type":"advisor_message","model":"claude-opus-5","input_tokens":12000,"output_tokens":300,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}]}}}
        = 2026-11-20T09:00:05Z s1 in -src-app, claude-opus-5: in 12000, out 300
        = 2026-11-20T09:00:05Z s1 in -src-app, claude-sonnet-5: in 1500, read 9000, write 500, write for an hour 1000, out 400, 150 of it reasoning, 1 searches
        # a refused answer counts beside the one that another model gave in its place
        {"type":"assistant","timestamp":"2026-11-20T09:01:05.000Z","sessionId":"s1","requestId":"req_2","uuid":"u3","cwd":"/src/app","message":{"id":"msg_2","role":"assistant","model":"claude-opus-5","content":[],"usage":{"input_tokens":412,"output_tokens":264,"cache_read_input_tokens":96,"cache_creation_input_tokens":31,"iterations":[{"type":"message","model":"claude-fable-5","input_tokens":535,"output_tokens":148,"cache_read_input_tokens":0,"cache_creation_input_tokens":0},{"type":"fallback_message","model":"claude-opus-5","input_tokens":412,"output_tokens":264,"cache_read_input_tokens":96,"cache_creation_input_tokens":31}]}}}
        {"type":"user","timestamp":"2026-11-20T09:02:00.000Z","sessionId":"s1","uuid":"u4","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"…"}]},"toolUseResult":{"query":"swift","searchCount":2,"results":[]}}
        = 2026-11-20T09:01:05Z s1 in -src-app, claude-fable-5: in 535, out 148
        = 2026-11-20T09:01:05Z s1 in -src-app, claude-opus-5: in 412, read 96, write 31, out 264, 2 searches
        # one answer of two requests counts twice, without a request once more
        \#(claudeLine("a"))
        \#(claudeLine("b"))
        \#(claudeLine(nil))
        = 2026-11-20T09:00:04Z s1 in -src-app, claude-opus-5: in 3, out 6, 3 requests
        # the usage in the result of a tool, of a user's line or of a summary is no answer
        {"type":"user","timestamp":"2026-11-20T09:00:04.000Z","message":{"role":"user","content":[{"usage":{"input_tokens":5,"output_tokens":5}}]},"toolUseResult":{"usage":{"input_tokens":5,"output_tokens":5}}}
        {"type":"summary","summary":"\"usage\":{\"input_tokens\":5}","message":{"usage":{"input_tokens":5,"output_tokens":5}}}
        {"usage":{"input_tokens":5,"output_tokens":5},"type":"assistant","timestamp":"2026-11-20T09:00:04.000Z","message":{"content":[{"usage":{"input_tokens":5,"output_tokens":5}}]}}
        # the desktop program's sessions are read below their projects, and nothing else there
        @ .config/Claude/local-agent-mode-sessions/a/b/.claude/projects/-src-app/s1.jsonl
        \#(claudeLine("a"))
        @ .config/Claude/local-agent-mode-sessions/a/b/other.jsonl
        \#(claudeLine("b"))
        = 2026-11-20T09:00:04Z s1 in -src-app, claude-opus-5: in 1, out 2
        """#)

    @Test(
        "what a fork has from a session that had it from another counts in that one, whatever their names",
        arguments: ["a", "b", "c"], ["09:00:04", "18:00:00"])
    func forkOfCopies(name: String, time: String) throws {
        let home = try TokenHome(logs: [ClaudeTokens()])
        let line = Self.claudeLine("r1").replacing(#""s1""#, with: #""origin-\#(name)""#)
        let copy = line.replacing("origin-", with: "fork-").replacing("09:00:04", with: time)
            .replacing(#"{"type":"assistant""#, with: #"{"forkedFrom":{"sessionId":"resumed"},"type":"assistant""#)
        for (session, line) in [("origin-\(name)", line), ("resumed", line), ("fork-\(name)", copy)] {
            try home.home.write(".claude/projects/-src-app/\(session).jsonl", line)
        }
        #expect(
            home.usage().sums == ["2026-11-20T09:00:04Z origin-\(name) in -src-app, claude-opus-5: in 1, out 2"])
    }

    @Test("a line that is torn behind an object in it counts nothing")
    func tornProgress() throws {
        let home = try TokenHome(logs: [ClaudeTokens()])
        let answer = Self.claudeLine("b").dropFirst(#"{"type":"assistant","#.count).dropLast()
        let line = #"{"type":"progress","sessionId":"s1","data":{"message":{\#(answer)},"timestamp":"t"}"#
        let ends = line.indices.filter { line[$0] == "}" }
        #expect(ends.count > 4)
        for end in ends {
            try home.home.write(
                ".claude/projects/-src-app/s1.jsonl", Self.claudeLine("a") + "\n" + line[...end] + "\n")
            #expect(home.usage().requestCount == 1, "\(line[...end])")
        }
    }

    // MARK: Codex

    private static let codexMeta = codexMeta("t1")
    private static func codexMeta(_ id: String, more: String = "") -> String {
        #"{"timestamp":"2026-11-20T09:00:00.000Z","type":"session_meta","payload":{"id":"\#(id)"\#(more)}}"# + "\n"
            + #"{"type":"turn_context","payload":{"model":"gpt-5.5"}}"#
    }

    private static func codexCount(_ time: String, total: Int? = nil, last: Int? = nil, more: String = "") -> String {
        let members = [("total", total), ("last", last)].compactMap { name, count in
            count.map { #""\#(name)_token_usage":{"input_tokens":\#($0),"output_tokens":\#($0 / 10)}"# }
        }
        return #"{"timestamp":"2026-11-20T09:\#(time)Z"\#(more),"type":"event_msg","payload":{"type":"token_count","#
            + #""info":{\#(members.joined(separator: ","))}}}"#
    }

    private static let codex = TokenShape.table(
        of: "codex", at: ".codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-t1.jsonl",
        #"""
        # what counts is by how much the total has grown, and at most what the last response used
        \#(codexMeta)
        \#(codexCount("00:05", total: 10, last: 10))
        \#(codexCount("00:09", total: 30, last: 30))
        \#(codexCount("00:12", total: 50))
        \#(codexCount("00:15", total: 90, last: 15))
        = 2026-11-20T09:00:05Z t1, gpt-5.5: in 75, out 7, 4 requests
        # after a total that falls the last response counts
        \#(codexMeta)
        \#(codexCount("00:05", total: 100, last: 100))
        \#(codexCount("00:09", total: 20, last: 7))
        = 2026-11-20T09:00:05Z t1, gpt-5.5: in 107, out 10, 2 requests
        # counts without a total are read by the last response, unless they repeat it
        \#(codexMeta)
        \#(codexCount("00:05", last: 10))
        \#(codexCount("00:06", last: 10))
        \#(codexCount("00:09", last: 11))
        = 2026-11-20T09:00:05Z t1, gpt-5.5: in 21, out 2, 2 requests
        # a record is repeated once, and an older version that resumes the thread states what counts
        \#(codexMeta)
        {"timestamp":"2026-11-20T09:00:05Z","type":"token_usage_record","payload":{"thread_id":"t1","response_id":"r1","usage":{"input_tokens":10,"output_tokens":1}}}
        \#(codexCount("00:05", total: 10, last: 10))
        \#(codexCount("00:09", total: 20, last: 10))
        = 2026-11-20T09:00:05Z t1, gpt-5.5: in 20, out 2, 2 requests
        # lines before a subagent's first ordinal are copies
        \#(codexMeta("t1", more: #","subagent_history_start_ordinal":4"#))
        \#(codexCount("00:20", total: 10, last: 10, more: #","ordinal":3"#))
        \#(codexCount("00:30", total: 30, last: 20, more: #","ordinal":4"#))
        = 2026-11-20T09:00:30Z t1, gpt-5.5: in 20, out 2
        # a turn whose model is null goes on with the one before, and states what comes after that
        \#(codexMeta)
        {"type":"turn_context","payload":{"model":null,"service_tier":"priority"}}
        \#(codexCount("00:05", total: 10, last: 10))
        = 2026-11-20T09:00:05Z t1, gpt-5.5: in 10, out 1, priority
        # a count with no total of its own or with null says nothing
        \#(codexMeta)
        {"timestamp":"2026-11-20T09:00:05Z","type":"event_msg","payload":{"type":"token_count","info":null}}
        """#)

    // MARK: Gemini CLI

    private static let geminiChat = ".gemini/tmp/app/chats/session-2026-11-20T09-00-5f0c2a4e.jsonl"
    private static let geminiReply =
        #"{"id":"m2","timestamp":"2026-11-20T09:00:05.000Z","type":"gemini","content":"hi","tokens":{"input":12000,"output":350,"cached":8000,"thoughts":420,"tool":0,"total":12770},"model":"gemini-3.1-pro-preview"}"#

    private static let gemini = TokenShape.table(
        of: "gemini", at: geminiChat,
        #"""
        # what was put aside, other documents and other types of messages are not read
        \#(geminiReply.replacing("\"gemini\"", with: "\"info\""))
        @ \#(geminiChat).unreadable-1795165205000
        \#(geminiReply)
        @ \#(geminiChat).tmp-12
        \#(geminiReply)
        @ .gemini/tmp/app/chats/saved.json
        {"stats":{"models":{"gemini-3":{"tokens":{"prompt":9}}}}}
        @ .gemini/tmp/app/logs.jsonl
        \#(geminiReply)
        """#)

    // MARK: Qwen Code

    private static let qwen = TokenShape.table(
        of: "qwen", at: ".qwen/projects/-src-app/chats/s1.jsonl",
        #"""
        # another version of the ledger is not read
        @ .qwen/usage/token-usage-2026-11.jsonl
        {"schemaVersion":2,"id":"r1","timestamp":"2026-11-20T09:00:05.000Z","sessionId":"s1","model":"qwen3-coder-plus","inputTokens":12000,"outputTokens":700,"totalTokens":12700}
        # a reply without numbers, or with zeros, is ignored
        {"uuid":"u1","sessionId":"s1","timestamp":"2026-11-20T09:00:05.100Z","type":"assistant","usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0}}
        {"uuid":"u2","sessionId":"s1","timestamp":"2026-11-20T09:00:05.100Z","type":"assistant","usageMetadata":{}}
        {"uuid":"u3","sessionId":"s1","timestamp":"2026-11-20T09:00:05Z","type":"assistant"}
        """#)

    // MARK: Kimi

    private static let kimi = TokenShape.table(
        of: "kimi", at: ".kimi/sessions/ab12/s1/wire.jsonl",
        #"""
        # a subagent whose name leads elsewhere has the session's model
        {"timestamp": 1789641000.5, "message": {"type": "SubagentEvent", "payload": {"agent_id": "../a1", "event": {"type": "StatusUpdate", "payload": {"message_id": "c3", "token_usage": {"input_other": 100, "output": 50}}}}}}
        @ .kimi/sessions/ab12/s1/a1/meta.json
        {"launch_spec": {"effective_model": "kimi-k2"}}
        = 2026-09-17T10:30:00Z s1 in ab12, kimi-for-coding: in 100, out 50
        """#)

    // MARK: Grok Build

    private static let grokSessions = ".grok/sessions/%2Fsrc%2Fapp/"
    private static func grokTurn(
        _ prompt: String, at time: String = "1789639205", kind: String = "turn_completed",
        _ usage: String = #"{"modelUsage": {"grok-build": {"inputTokens": 4100, "outputTokens": 50}}}"#
    ) -> String {
        #"{"timestamp": \#(time), "method": "_x.ai/session/update", "params": {"sessionId": "s9", "update": "#
            + #"{"sessionUpdate": "\#(kind)", "prompt_id": "\#(prompt)", "usage": \#(usage)}}}"#
    }

    private static let grok = TokenShape.table(
        of: "grok", at: grokSessions + "s1/updates.jsonl",
        #"""
        # the directory is in the summary, beside the session or in the name
        @ .grok/sessions/slug-1/.cwd
        /src/long
        @ .grok/sessions/slug-1/s1/updates.jsonl
        \#(grokTurn("p1"))
        @ .grok/sessions/slug-2/s2/summary.json
        {"info": {"cwd": "/src/two"}}
        @ .grok/sessions/slug-2/s2/updates.jsonl
        \#(grokTurn("p2", at: "1789641000"))
        @ \#(grokSessions)s3/updates.jsonl
        \#(grokTurn("p3", at: "1789642000"))
        = 2026-09-17T10:00:05Z s1 in /src/long, grok-build: in 4100, out 50
        = 2026-09-17T10:30:00Z s2 in /src/two, grok-build: in 4100, out 50
        = 2026-09-17T10:46:40Z s3 in /src/app, grok-build: in 4100, out 50
        # other updates, a turn without usage and the size of the context are no tokens
        \#(grokTurn("p1", kind: "turn_started"))
        \#(grokTurn("p2").replacing("_x.ai/session/update", with: "session/update"))
        \#(grokTurn("p3", "null"))
        \#(grokTurn("p4", #"{"_meta": {"totalTokens": 12}}"#))
        @ \#(grokSessions)s1/signals.json
        {"totalTokensBeforeCompaction": 12000, "contextTokensUsed": 3400}
        """#)

    // MARK: Amp

    private static let ampLine =
        "2026-11-20T09:00:05Z T-1 in /src/app, claude-sonnet-5: in 1500, read 9000, write 1500, out 400"

    private static func ampThread(_ messages: String..., events: String? = nil, id: String = "T-1") -> String {
        let ledger = events.map { #", "usageLedger": {"events": [\#($0)]}"# } ?? ""
        return #"{"v": 120, "id": "\#(id)", "created": 1795165200000, "title": "t", "env": {"initial": {"trees": "#
            + #"[{"displayName": "app", "uri": "file:///src/app"}]}}, "messages": ["#
            + #"{"role": "user", "messageId": 0}, \#(messages.joined(separator: ","))]\#(ledger)}"#
    }

    private static func ampReply(
        input: Int = 1500, model: String = "claude-sonnet-5", hasTime: Bool = true, role: String = "assistant"
    ) -> String {
        #"{"role": "\#(role)", "messageId": 1, "content": [], "usage": {"model": "\#(model)", "inputTokens": \#(input), "#
            + #""outputTokens": 400, "cacheCreationInputTokens": 1500, "cacheReadInputTokens": 9000, "#
            + #""totalInputTokens": 12000, "credits": 3.2"#
            + (hasTime ? #", "timestamp": "2026-11-20T09:00:05.000Z"}}"# : "}}")
    }

    private static func ampEvent(_ more: String = "") -> String {
        #"{"id": "e1", "timestamp": "2026-11-20T09:00:05.000Z", "model": "claude-sonnet-5", "credits": 3.2, "#
            + #""operationType": "inference", "fromMessageId": 0, "toMessageId": 1, "#
            + #""tokens": {"input": 1500, "output": 400\#(more)}}"#
    }

    private static let amp = TokenShape.table(
        of: "amp", at: ".local/share/amp/threads/T-1.json",
        #"""
        # input is without the cache, and credits are no dollars -> \#(ampLine)
        \#(ampThread(ampReply()))
        # a thread with an empty ledger is read by its messages -> \#(ampLine)
        \#(ampThread(ampReply(), events: ""))
        # a thread with a ledger is read by it, with the messages' caches -> \#(ampLine)
        \#(ampThread(ampReply(hasTime: false), events: ampEvent()))
        # an event's own cache counts before a message's -> \#(ampLine.replacing("9000, write 1500", with: "7"))
        \#(ampThread(ampReply(), events: ampEvent(#", "cacheReadInputTokens": 7"#)))
        # the ledger may be written before the messages -> \#(ampLine.replacing(" in /src/app", with: ""))
        {"usageLedger": {"events": [\#(ampEvent())]}, "id": "T-1", "messages": [\#(ampReply())]}
        # a prompt that was read from caches alone counts -> \#(ampLine.replacing("in 1500, ", with: ""))
        \#(ampThread(ampReply(input: 0)))
        # what models of OpenAI seem to write to a cache is uncached input
        \#(ampThread(ampReply(input: 0, model: "gpt-5.2")))
        = 2026-11-20T09:00:05Z T-1 in /src/app, gpt-5.2: in 1500, read 9000, out 400
        # a message without a time is as old as its thread, coarsely
        \#(ampThread(ampReply(hasTime: false)))
        = \#(ampLine.replacing("09:00:05", with: "09:00:00")), coarse
        # messages of users, and without usage, are no tokens
        \#(ampThread(ampReply(role: "user"), #"{"role": "assistant", "messageId": 2}"#))
        # the numbers of messages count within their thread
        \#(ampThread(ampReply()))
        @ .local/share/amp/threads/T-2.json
        \#(ampThread(ampReply(), id: "T-2"))
        @ .local/share/amp/threads/copy/T-1.json
        \#(ampThread(ampReply()))
        = \#(ampLine)
        = \#(ampLine.replacing("T-1", with: "T-2"))
        """#)

    // MARK: Droid

    private static let droidSession = ".factory/sessions/-src-app/s1"
    private static let droidLine =
        "2026-11-20T09:00:05Z s1 in /src/app, claude-sonnet-5: in 1500, read 9000, write 1500, out 400, 150 of it reasoning, coarse"

    private static func droidChat(_ message: String = droidMessage()) -> String {
        "@ \(droidSession).jsonl\n" + #"{"type":"session_start","id":"s1","title":"t","version":2,"cwd":"/src/app"}"#
            + "\n" + message
    }

    private static func droidMessage(_ time: String = "\"2026-11-20T09:00:05.000Z\"", text: String = "hi") -> String {
        #"{"type":"message","id":"m1","timestamp":\#(time),"message":{"content":[{"text":"\#(text)"}]}}"#
    }

    private static func droidSettings(
        _ usage: String = droidUsage, model: String? = "claude-sonnet-5", more: String = ""
    ) -> String {
        let model = model.map { #""model":"\#($0)","# } ?? ""
        return #"{"assistantActiveTimeMs":5200,\#(model)"providerLock":"anthropic","#
            + #""providerLockTimestamp":"2026-11-19T09:00:00.000Z","tokenUsage":\#(usage)\#(more)}"#
    }

    private static let droidUsage =
        #"{"inputTokens":1500,"outputTokens":250,"cacheCreationTokens":1500,"cacheReadTokens":9000,"#
        + #""thinkingTokens":150,"factoryCredits":4200}"#

    private static let droid = TokenShape.table(
        of: "factory", at: droidSession + ".settings.json",
        #"""
        # input is without the cache, thinking is beside output, and the last message has the time -> \#(droidLine)
        \#(droidSettings())
        \#(droidChat(droidMessage("\"2026-11-20T08:00:00Z\"") + "\n" + droidMessage()))
        # without a chat the time is the document's
        \#(droidSettings())
        = \#(droidLine.replacing("2026-11-20T09:00:05Z s1 in /src/app", with: "2026-09-18T12:00:00Z s1 in -src-app"))
        # a time may be in milliseconds -> \#(droidLine)
        \#(droidSettings())
        \#(droidChat(droidMessage("1795165205000")))
        # what subagents used is in files of their own
        \#(droidSettings(more: #","inclusiveTokenUsage":{"inputTokens":9500},"lastCallTokenUsage":{"inputTokens":7},"childInclusiveTokenUsageBySessionId":{"s2":{"inputTokens":8000}}"#))
        \#(droidChat())
        @ .factory/sessions/-src-app/s2.settings.json
        \#(droidSettings(#"{"inputTokens":8000}"#))
        = 2026-09-18T12:00:00Z s2 in -src-app, claude-sonnet-5: in 8000, coarse
        = \#(droidLine)
        # a session that was moved counts once -> \#(droidLine)
        \#(droidSettings())
        \#(droidChat())
        @ .factory/sessions/s1.settings.json
        \#(droidSettings(#"{"inputTokens":7}"#))
        # no counts, or zeros, are no tokens
        \#(droidSettings(#"{"inputTokens":0,"outputTokens":0}"#))
        @ .factory/sessions/-src-app/s2.settings.json
        {"model":"claude-sonnet-5"}
        @ .factory/sessions/-src-app/s3.settings.json
        \#(droidSettings("null"))
        # a model of the user's own is named without its number and mark -> \#(droidLine)
        \#(droidSettings(model: "custom:claude-sonnet-5-[Anthropic]-0"))
        \#(droidChat())
        # a number at the end of another model's name is a part of it -> \#(droidLine)
        \#(droidSettings(model: "claude-sonnet-5-[fast]"))
        \#(droidChat())
        # a model that the settings do not name is in a text of the chat -> \#(droidLine)
        \#(droidSettings(model: nil))
        \#(droidChat(droidMessage(text: "Model: Claude Sonnet 5 [x]\\nOS: Linux") + "\n" + droidMessage()))
        # a document that is cut off is read when it is whole
        \#(droidSettings().dropLast(3))
        = ~/\#(droidSession).settings.json is cut off or damaged: what is not whole in it does not count
        """#)

    @Test("a chat of Droid is read from its end, whatever its length")
    func longChat() throws {
        let home = try SampleHome()
        try home.write(Self.droidSession + ".settings.json", Self.droidSettings())
        let result = #"{"type":"todo_state","timestamp":7,"text":"\#(String(repeating: "x", count: 3_000_000))"}"#
        let chat = Self.droidChat(Self.droidMessage() + "\n" + result + "\n").split(separator: "\n", maxSplits: 1)[1]
        try home.write(Self.droidSession + ".jsonl", String(chat))
        #expect(home.tokens(of: "factory") == [Self.droidLine])
    }
}
