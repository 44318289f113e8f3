import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Hooks in a tool's settings")
struct HookSettingsTests {
    private static let events = [
        HookSettings.Event("SessionStart"), HookSettings.Event("PreToolUse", isOfTools: true),
        HookSettings.Event("Stop"),
    ]
    private static let hooks = settings("usage-view")

    private static func settings(_ program: String) -> HookSettings {
        HookSettings(
            events: events, command: program + " gate hook claude", mark: "gate hook claude", timeout: 86_400)
    }

    private static let others: [ClaudeSettingsTests.Shape] = [
        .init("hooks of others", #"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "a"}]}]}}"#),
        .init(
            "hooks of others on lines",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  }\n}"),
        .init("other events", "{\r\n\t\"hooks\": {\r\n\t\t\"Notification\": []\r\n\t},\r\n\t\"z\": 1\r\n}"),
        .init("an event twice", #"{"hooks":{"Stop":[{"a":1}],"Stop":[{"b":2}]},"x":[]}"#),
        .init("a name with an escape", #"{"\u0068ooks": {"St\u006fp": [{"hooks": [{"command": "x"}]}]}}"#),
    ]

    private static func object(_ text: Data) throws -> NSDictionary {
        let bytes = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }

    /// The commands at an event, as a tool reads them.
    private static func commands(_ text: Data, at event: String) throws -> [String] {
        let hooks = try object(text)["hooks"] as? [String: Any] ?? [:]
        let groups = hooks[event] as? [[String: Any]] ?? []
        return groups.flatMap { $0["hooks"] as? [[String: Any]] ?? [] }.compactMap { $0["command"] as? String }
    }

    @Test(
        "a command is added once at each event, and removing it restores every byte",
        arguments: ClaudeSettingsTests.shapes.filter { !$0.text.contains(#""hooks": {"a""#) } + others)
    func restoring(shape: ClaudeSettingsTests.Shape) throws {
        let original = Data(shape.text.utf8)
        #expect(try Self.hooks.removing(from: original) == original)
        for program in ["usage-view", "'/opt/it is \"mine\"\\ü/usage-view'"] {
            let hooks = Self.settings(program)
            let edited = try hooks.adding(to: original)
            for event in Self.events {
                #expect(try Self.commands(edited, at: event.name).filter { $0 == hooks.command }.count == 1)
            }
            #expect(try hooks.adding(to: edited) == edited)
            #expect(try Self.settings("/elsewhere/usage-view").removing(from: edited) == original)
        }
    }

    @Test("a command of a program that has moved is replaced")
    func moving() throws {
        let original = Data("{\n  \"model\": \"opus\"\n}\n".utf8)
        let moved = Self.settings("/opt/bin/usage-view")
        #expect(try moved.adding(to: Self.hooks.adding(to: original)) == moved.adding(to: original))
    }

    @Test("a new file has the layout of a person's, and is nothing when the command is removed")
    func newFile() throws {
        let text = try Self.hooks.adding(to: nil)
        let handler = #"{"type": "command", "command": "usage-view gate hook claude", "timeout": 86400}"#
        #expect(
            String(decoding: text, as: UTF8.self) == """
                {
                  "hooks": {
                    "SessionStart": [{"hooks": [\(handler)]}],
                    "PreToolUse": [{"matcher": "*", "hooks": [\(handler)]}],
                    "Stop": [{"hooks": [\(handler)]}]
                  }
                }

                """)
        #expect(try Self.hooks.removing(from: text) == Data("{}\n".utf8))
    }

    @Test("of a person's own group only the command is removed")
    func ownGroup() throws {
        let own = #"{"command": "usage-view gate hook claude"}, "#
        func text(_ own: String) -> String {
            #"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, \#(own){"command": "b"}]}]}}"#
        }
        #expect(try Self.hooks.removing(from: Data(text(own).utf8)) == Data(text("").utf8))
    }

    @Test(
        "what cannot be edited safely is refused with its position",
        arguments: [
            ("[]", "line 1, column 1: not a JSON object"),
            (#"{"hooks": []}"#, "line 1, column 2: hooks is not an object"),
            (#"{"hooks": {"Stop": {}}}"#, "line 1, column 12: hooks.Stop is not a list"),
            ("{\n// a note\n}", "line 2, column 1: comments are not valid in JSON"),
        ])
    func refused(text: String, message: String) {
        let error = #expect(throws: JSONDocumentError.self) { try Self.hooks.adding(to: Data(text.utf8)) }
        #expect(error?.description == message)
    }

    @Test("in random documents everything else stays, whatever was edited between", arguments: 0..<200)
    func generated(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let space = ["", " ", "\n  ", "\r\n\t"][Int.random(in: 0..<4, using: &random)]
        func list(_ parts: [String]) -> String { parts.map { space + $0 }.joined(separator: ",") + space }
        func groups() -> String {
            let commands = (0..<Int.random(in: 1...3, using: &random)).map { "{\"command\":\"c\($0)\"}" }
            return
                "[\(list((0..<Int.random(in: 1...3, using: &random)).map { _ in "{\"hooks\":[\(list(commands))]}" }))]"
        }
        let names = ["SessionStart", "PreToolUse", "Stop", "PreCompact"].filter { _ in Bool.random(using: &random) }
        let hooks = "\"hooks\":{\(list(names.map { "\"\($0)\":\(groups())" }))}"
        var members = ["\"a\":[1,{\"hooks\":2}]", "\"b\":\"usage-view gate hook claude\""]
        if !names.isEmpty { members.insert(hooks, at: Int.random(in: 0...2, using: &random)) }
        let original = Data("{\(list(members))}".utf8)
        let edited = try Self.hooks.adding(to: original)
        #expect(try Self.hooks.removing(from: edited) == original, "seed \(seed)")
        // Another program adds a member at the end.
        let outline = try JSONOutline(Array(edited))
        let later = outline.adding(to: outline.root) { _ in Array("\"z\":{}".utf8) }
        let expected = try JSONOutline(Array(original))
        #expect(
            try Self.object(Self.hooks.removing(from: later))
                == Self.object(expected.adding(to: expected.root) { _ in Array("\"z\":{}".utf8) }), "seed \(seed)")
    }
}
