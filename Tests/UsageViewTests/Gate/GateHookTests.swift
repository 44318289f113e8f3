import Foundation
import SnapshotModels
import TestSupport
import Testing
import UsageState

/// Agents that call the real program as their documentation says, with the files that the pusher keeps.
@Suite("The hook of the gate", .temporaryHome, .timeLimit(.minutes(5)))
struct GateHookTests {
    private static let usagePath = ".local/state/ubiquity/gate/usage.json"
    private static let rulesPath = ".config/ubiquity/gate.json"

    private func keep(_ used: Double, of provider: String, resetsIn minutes: Double = 60, minutesAgo: Double = 0) throws
    {
        let usage = InventedUsage(now: Date())
        let data = usage.data(
            usage.account(provider, [usage.window(used, resetsIn: minutes)], minutesAgo: minutesAgo))
        let file = try #require(GateUsage(data, now: Date()).data)
        try TemporaryHome.ofTest.file(Self.usagePath, String(decoding: file, as: UTF8.self))
    }

    private func rule(_ action: GateRule.Action, patience: Double = 3_600) throws {
        var rule = GateRule(.used(percent: 95), then: action)
        rule.waitLimit = patience
        try TemporaryHome.ofTest.file(Self.rulesPath, String(decoding: GateRules([rule]).data, as: UTF8.self))
    }

    /// What the hook answers; nil for nothing.
    private func call(
        _ tool: String, _ event: String, session: String = "s-1", directory: String = #"/tmp/a\/b"#
    ) async throws -> [String: Any]? {
        let input =
            #"{"session_id":"\#(session)","transcript_path":null,"cwd":"\#(directory)","hook_event_name":"\#(event)","#
            + #""tool_name":"Bash","tool_input":{"command":"ls","hook_event_name":"Stop"},"tool_use_id":"t"}"#
        let outcome = try await TemporaryHome.ofTest.run("usage-view", ["gate", "hook", tool], input: Data(input.utf8))
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        guard !outcome.output.isEmpty else { return nil }
        return try #require(JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
    }

    @Test(
        "the next call after the threshold is stopped, and one after the reset is allowed",
        arguments: ["claude", "codex"])
    func stop(tool: String) async throws {
        try rule(.stop)
        try keep(40, of: tool)
        #expect(try await call(tool, "PreToolUse") == nil)
        try keep(96, of: tool)
        for _ in 0..<2 {
            let answer = try #require(try await call(tool, "PreToolUse"))
            let specific = try #require(answer["hookSpecificOutput"] as? [String: String])
            #expect(specific["hookEventName"] == "PreToolUse" && specific["permissionDecision"] == "deny")
            #expect(specific["permissionDecisionReason"]?.contains("96 % used") == true)
            // Codex refuses a call whose hook ends the turn as an error, and lets it pass.
            #expect(answer["continue"] as? Bool == (tool == "claude" ? false : nil))
        }
        let prompt = try #require(try await call(tool, "UserPromptSubmit"))
        #expect(prompt["decision"] as? String == "block" && (prompt["reason"] as? String)?.isEmpty == false)
        #expect(try await call(tool, "Stop")?["continue"] as? Bool == false)
        try keep(96, of: tool, resetsIn: -1)
        for event in ["PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop"] {
            #expect(try await call(tool, event) == nil)
        }
    }

    @Test("a model is told once in a session", arguments: ["claude", "codex"])
    func tell(tool: String) async throws {
        try rule(.tell)
        try keep(96, of: tool)
        let answer = try #require(try await call(tool, "PreToolUse")?["hookSpecificOutput"] as? [String: String])
        #expect(answer["additionalContext"]?.contains("96 % used") == true && answer["permissionDecision"] == nil)
        #expect(try await call(tool, "PreToolUse") == nil)
        #expect(try await call(tool, "PreToolUse", session: "s-2") != nil)
    }

    @Test("the dialogue opens once in a session, before a call", arguments: ["claude", "qwen", "copilot"])
    func ask(tool: String) async throws {
        try rule(.ask)
        try keep(96, of: tool)
        for event in ["SessionStart", "UserPromptSubmit"] { #expect(try await call(tool, event) == nil) }
        let answer = try #require(try await call(tool, "PreToolUse"))
        let decision = (answer["hookSpecificOutput"] as? [String: String] ?? answer as? [String: String])
        #expect(decision?["permissionDecision"] == "ask", "\(answer)")
        #expect(try await call(tool, "PreToolUse") == nil)
    }

    @Test("a rule of a directory finds agents by each path that leads there")
    func links() async throws {
        let home = TemporaryHome.ofTest
        try FileManager.default.createDirectory(atPath: home.path + "/real/agents/a", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: home.path + "/link", withDestinationPath: "real")
        let set = try await home.run(
            "usage-view",
            ["gate", "set", "--at", "95", "--then", "stop", "--directory", home.path + "/real/agents/"])
        #expect(set.status == 0, "\(set.errors)")
        try keep(96, of: "claude")
        for place in ["real/agents", "real/agents/a", "link/agents", "link/agents/a"] {
            let answer = try await call("claude", "PreToolUse", directory: home.path + "/" + place)
            #expect(answer != nil, "\(place)")
        }
        #expect(try await call("claude", "PreToolUse", directory: home.path + "/real") == nil)
    }

    @Test("a session that changes its model is asked about that of its status line")
    func model() async throws {
        let home = TemporaryHome.ofTest
        let usage = InventedUsage(now: Date())
        let data = usage.data(
            usage.account("claude", [usage.window(99, minutes: 10_080, resetsIn: 600, label: "Opus")]))
        try home.file(Self.usagePath, String(decoding: try #require(GateUsage(data, now: Date()).data), as: UTF8.self))
        try rule(.stop)
        func use(_ model: String) async throws {
            let input = #"{"session_id":"s-1","model":{"id":"\#(model)","display_name":"x"}}"#
            let outcome = try await home.run("usage-push", ["claude-statusline"], input: Data(input.utf8))
            #expect(outcome.status == 0)
        }
        try await use("claude-opus-5")
        #expect(try await call("claude", "PreToolUse") == nil, "no session has begun")
        #expect(try await call("claude", "SessionStart") == nil)
        for model in ["claude-opus-5", "claude-sonnet-5", "claude-opus-5"] {
            try await use(model)
            let answer = try await call("claude", "PreToolUse")
            #expect((answer != nil) == model.contains("opus"), "\(model)")
        }
    }

    @Test("damaged rules or numbers, absent files, old numbers and odd input let every call pass")
    func open() async throws {
        let home = TemporaryHome.ofTest
        for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SubagentStop"] {
            #expect(try await call("claude", event) == nil)
        }
        try keep(99, of: "claude")
        try home.file(Self.rulesPath, #"{"rules": [{"at": 95, "then": "stop"}"#)
        #expect(try await call("claude", "PreToolUse") == nil)
        try rule(.stop)
        for numbers in ["", "{", "[]", #"{"accounts": 1}"#, String(repeating: " ", count: 200_000)] {
            try home.file(Self.usagePath, numbers)
            #expect(try await call("claude", "PreToolUse") == nil)
        }
        // As with a clock that is a day behind, or one that is a day ahead.
        for age in [-1_440, 1_440] as [Double] {
            try keep(99, of: "claude", resetsIn: 299, minutesAgo: age)
            #expect(try await call("claude", "PreToolUse") == nil)
        }
        try keep(99, of: "claude")
        #expect(try await call("claude", "PreToolUse", session: "../../a") != nil)
        for input in ["", "{", "null", #"{"session_id":"a"}"#, #"{"session_id":7,"hook_event_name":"PreToolUse"}"#] {
            let outcome = try await home.run("usage-view", ["gate", "hook", "claude"], input: Data(input.utf8))
            #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(input)")
        }
    }

    @Test(
        "a hook that a settings file calls otherwise lets the call pass, and says why",
        arguments: [
            [], ["cluade"], ["claude", "codex"], ["claude", "--fast"],
        ])
    func otherArguments(arguments: [String]) async throws {
        try rule(.stop)
        try keep(99, of: "claude")
        let outcome = try await TemporaryHome.ofTest.run("usage-view", ["gate", "hook"] + arguments, input: Data())
        #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome.text)")
        #expect(outcome.errors.contains("the call passes: the tool must be one of claude, codex"), "\(outcome.errors)")
    }

    @Test(
        "a hook opens the two files and that of its session, starts no thread and opens no socket",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")), arguments: [40.0, 96])
    func cost(used: Double) async throws {
        let home = TemporaryHome.ofTest
        try rule(.tell)
        try keep(used, of: "claude")
        try home.file("input", #"{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PreToolUse"}"#)
        let program = try #require(TemporaryHome.program("usage-view")).path
        let traced = try await home.shell("cd; strace -f -o trace '\(program)' gate hook claude < input")
        #expect(traced.status == 0 && traced.output.isEmpty == (used < 95), "\(traced.errors)")
        let calls = try home.text("trace").split(separator: "\n")
        #expect(calls.count > 20)
        let forbidden = calls.filter { $0.contains(/^\d+ +(clone|fork|vfork|socket|connect)/) }
        #expect(forbidden.isEmpty)
        let opened = Set(calls.compactMap { $0.firstMatch(of: /open(?:at)?\(.*?"(.*?)"/)?.1 }.map(String.init))
        let own = opened.filter { $0.hasPrefix(home.path) }.map { $0.dropFirst(home.path.count + 1) }
        let gate = ".local/state/ubiquity/gate"
        #expect(own.contains { $0 == "\(gate)/usage.json" } && own.contains { $0 == Self.rulesPath })
        let other = own.filter {
            $0 != "\(gate)/usage.json" && $0 != Self.rulesPath && !$0.hasPrefix("\(gate)/sessions")
        }
        #expect(other.isEmpty, "\(other)")
    }

    @Test("a tool that never ends its input does not wait for the gate")
    func deadline() async throws {
        let outcome = try await TemporaryHome.ofTest.shell(
            "tail -f /dev/null | { '\(try #require(TemporaryHome.program("usage-view")).path)' gate hook claude; "
                + "echo ended $?; kill 0; }")
        #expect(outcome.text == "ended 0\n")
    }

    @Test("a call that waits goes on when the numbers no longer ask for it")
    func pause() async throws {
        try rule(.pause)
        try keep(96, of: "claude")
        let home = TemporaryHome.ofTest
        // One whose share of the minute is a small one.
        let waiting = Task { try await call("claude", "PreToolUse", session: "s-234") == nil }
        let session = home.path + "/.local/state/ubiquity/gate/sessions/s-234.json"
        while !FileManager.default.fileExists(atPath: session) { await Task.yield() }
        #expect(try String(contentsOfFile: session, encoding: .utf8).contains("\"waiting\""))
        try keep(10, of: "claude")
        #expect(try await waiting.value)
        #expect(try !String(contentsOfFile: session, encoding: .utf8).contains("\"waiting\""))
    }
}
