import Foundation
import TestSupport
import Testing
import UsageState

@Suite("Installing the gate", .temporaryHome, .timeLimit(.minutes(5)))
struct GateInstallTests {
    private var home: TemporaryHome { .ofTest }

    private func text(_ path: String) -> String? {
        try? String(contentsOfFile: home.path + "/" + path, encoding: .utf8)
    }

    private func tools() throws -> [String: String] {
        let files = [
            ".claude/settings.json": "{\"hooks\": {}, \"model\": \"opus\"}",
            ".codex/hooks.json": "{ }\n",
            ".gemini/settings.json": "{\n  \"hooks\": {\n    \"BeforeTool\": []\n  }\n}\n",
            ".qwen/settings.json": "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"a\"}]}]}}",
        ]
        for (path, text) in files { try home.file(path, text) }
        for path in [".claude/projects/p/a.jsonl", ".codex/sessions/a.jsonl", ".copilot/config.json"] {
            try home.file(path, "{}\n")
        }
        return files
    }

    @discardableResult
    private func install(_ options: String..., status: Int32 = 0) async throws -> String {
        let outcome = try await home.run("usage-view", ["gate", "install"] + options)
        #expect(outcome.status == status, "\(outcome.errors)")
        return outcome.text + outcome.errors
    }

    @Test("hooks are shown first, added with --yes, and --undo restores every byte of every tool's file")
    func undo() async throws {
        let files = try tools()
        let shown = try await install()
        #expect(shown.contains("+ ") && shown.contains("usage-view gate install --yes"))
        for (path, before) in files { #expect(text(path) == before) }

        let said = try await install("--yes")
        #expect(said.contains("run /hooks in it"))
        for tool in GateTool.allCases {
            let path =
                [.codex: ".codex/hooks.json", .copilot: ".copilot/hooks/usage-gate.json"][tool]
                ?? ".\(tool.rawValue)/settings.json"
            let installed = try #require(text(path))
            for event in tool.events { #expect(installed.contains("\"\(event.name)\""), "\(path)") }
            #expect(installed.contains("gate hook \(tool.rawValue)"))
        }
        #expect(text(".config/ubiquity/gate.json") == String(decoding: GateRules.defaults.data, as: UTF8.self))
        #expect(try await install("--yes").contains("Nothing left to install."))

        try await install("--yes", "--undo", "--tool", "qwen")
        #expect(text(".config/ubiquity/gate.json") != nil, "other tools still call the gate")
        try await install("--yes", "--undo")
        for (path, before) in files { #expect(text(path) == before, "\(path)") }
        #expect(text(".copilot/hooks/usage-gate.json") == nil && text(".config/ubiquity/gate.json") == nil)
        let left = try FileManager.default.subpathsOfDirectory(atPath: home.path).filter { $0.contains("before-") }
        #expect(left.isEmpty)
        #expect(try await install("--yes", "--undo").contains("Nothing to undo."))
    }

    @Test("a file that is no JSON is left alone and named, and the others are installed")
    func damaged() async throws {
        _ = try tools()
        try home.file(".qwen/settings.json", "{\n  // mine\n}\n")
        let said = try await install("--yes", status: 65)
        #expect(said.contains(".qwen/settings.json") && said.contains("line 2, column 3: comments"))
        #expect(text(".qwen/settings.json") == "{\n  // mine\n}\n")
        #expect(text(".claude/settings.json")?.contains("gate hook claude") == true)
    }

    @Test("where no tool could ask the gate, or one calls no hooks, that is said")
    func uninstalled() async throws {
        #expect(try await install("--yes", status: 66).contains("looked for: Claude Code, Codex"))
        #expect(text(".config/ubiquity/gate.json") == nil)
        try home.file(".claude/projects/p/a.jsonl", "{}\n")
        try home.file(".claude/settings.json", #"{"disableAllHooks": true}"#)
        #expect(try await install("--yes", "--tool", "codex", status: 66).contains("looked for: Codex"))
        try await install("--yes")
        let status = try await home.run("usage-view", ["gate", "status"]).text
        #expect(
            status.contains("Claude Code calls no hooks: disableAllHooks is true in \(home.path)/.claude/settings.json")
        )
    }

    @Test("rules that a person has set stay when the hooks are installed and removed")
    func rules() async throws {
        _ = try tools()
        let rules = String(decoding: GateRules([GateRule(.used(percent: 50), then: .tell)]).data, as: UTF8.self)
        try home.file(".config/ubiquity/gate.json", rules)
        try await install("--yes", "--tool", "claude")
        #expect(text(".codex/hooks.json") == "{ }\n")
        try await install("--yes", "--undo")
        #expect(text(".config/ubiquity/gate.json") == rules)
    }

    @Test("a rule holds at once, one that is about nothing is named, and nobody's provider is refused")
    func unmatched() async throws {
        _ = try tools()
        try await install("--yes", "--tool", "codex")
        let reset = Int(Date().timeIntervalSince1970) + 7_200
        try home.file(
            ".codex/sessions/2026/09/18/rollout-a.jsonl",
            #"{"timestamp":"\#(Date().formatted(.iso8601))","type":"event_msg","payload":{"type":"token_count","#
                + #""rate_limits":{"primary":{"used_percent":97,"window_minutes":300,"resets_at":\#(reset)}}}}"# + "\n")
        try #require(try await home.run("usage-push", ["--quiet"]).status == 0)
        // As before the first rule on this machine.
        try FileManager.default.removeItem(atPath: home.path + "/.local/state/ubiquity/gate")
        func gate(_ arguments: String..., status: Int32 = 0) async throws -> String {
            let outcome = try await home.run("usage-view", ["gate"] + arguments)
            #expect(outcome.status == status, "\(outcome.errors)")
            return outcome.text + outcome.errors
        }
        let stop = ["--at", "95", "--then", "stop"]
        let set = try await gate("set", "--at", "95", "--then", "stop", "--window", "session")
        #expect(set.contains("ubq doctor --fix") && !set.contains("matches nothing"), "nothing pushes: \(set)")
        let input = #"{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse"}"#
        let call = try await home.run("usage-view", ["gate", "hook", "codex"], input: Data(input.utf8))
        #expect(call.text.contains("97 % used"), "\(call.text)")

        for (option, value, known) in [
            ("--provider", "gemini", "codex"), ("--window", "wekly", "Session (5h)"),
            ("--account", "nobody", "known: "),
        ] {
            let outcome = try await home.run("usage-view", ["gate", "set", option, value] + stop)
            #expect(outcome.status == 0 && outcome.errors.contains("matches nothing now: no "), "\(outcome.errors)")
            #expect(outcome.errors.contains("'\(value)'") && outcome.errors.contains(known), "\(outcome.errors)")
        }
        try FileManager.default.removeItem(atPath: home.path + "/.local/state/ubiquity/gate")
        let status = try await gate("status")
        #expect(status.components(separatedBy: "matches nothing now").count == 4, "\(status)")
        for command in [["gate", "set"] + stop, ["check"]] {
            let outcome = try await home.run("usage-view", command + ["--provider", "cluade"])
            #expect(outcome.status != 0 && (outcome.text + outcome.errors).contains("'cluade'; known: "), "\(command)")
        }
        try home.file(".config/ubiquity/gate.json", "{")
        #expect(try await gate("status").contains("/.config/ubiquity/gate.json: the rules cannot be read; correct or"))
    }

    @Test("each installed command answers as its tool expects, and lets a call pass when the program is gone")
    func commands() async throws {
        _ = try tools()
        try await install("--yes")
        try home.file(
            ".config/ubiquity/gate.json",
            String(decoding: GateRules([GateRule(.used(percent: 95), then: .stop)]).data, as: UTF8.self))
        let program = try #require(TemporaryHome.program("usage-view")).path
        for tool in GateTool.allCases {
            let usage = InventedUsage(now: Date())
            let data = usage.data(usage.account(tool.rawValue, [usage.window(96)]))
            let numbers = try #require(GateUsage(data, now: Date()).data)
            try home.file(".local/state/ubiquity/gate/usage.json", String(decoding: numbers, as: UTF8.self))
            let path =
                [.codex: ".codex/hooks.json", .copilot: ".copilot/hooks/usage-gate.json"][tool]
                ?? ".\(tool.rawValue)/settings.json"
            let installed = try #require(text(path))
            let command = try #require(try Self.commands(installed).last)
            let event = try #require(tool.events.first { $0.event == .tool }?.name)
            let input =
                #"{"session_id":"s","cwd":"/tmp","hook_event_name":"\#(event)","tool_name":"Bash","tool_input":{}}"#
            try home.file("input", input)
            let answer = try await home.shell("{ \(command); } < '\(home.path)/input'")
            #expect(answer.status == 0 && answer.text.contains("96 % used"), "\(tool): \(command): \(answer.text)")
            let missing = command.replacingOccurrences(of: program, with: "/nowhere/usage-view")
            let passed = try await home.shell("{ \(missing); } < '\(home.path)/input'")
            #expect(passed.text.isEmpty)
            // Claude Code, Codex and Qwen Code go on after any status but 2.
            #expect([.gemini, .copilot].contains(tool) ? passed.status == 0 : passed.status != 2)
        }
    }

    private static func commands(_ text: String) throws -> [String] {
        func found(_ value: Any) -> [String] {
            switch value {
            case let object as [String: Any]:
                object.flatMap { key, value in
                    (["command", "bash"].contains(key) ? [value as? String].compactMap { $0 } : []) + found(value)
                }
            case let list as [Any]: list.flatMap(found)
            default: []
            }
        }
        return found(try JSONSerialization.jsonObject(with: Data(text.utf8))).filter { $0.contains("gate hook") }
    }
}
