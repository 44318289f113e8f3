package import Essentials

/// A tool with hooks. Its name is the id of its provider.
///
/// Sources of all shapes: docs/agent-hooks.md.
package enum GateTool: String, Sendable, CaseIterable {
    case claude, codex, gemini, qwen, copilot

    package var title: String {
        switch self {
        case .claude: "Claude Code"
        case .codex: "Codex"
        case .gemini: "Gemini CLI"
        case .qwen: "Qwen Code"
        case .copilot: "GitHub Copilot CLI"
        }
    }

    /// Where it asks, by its own names.
    package var events: [(event: GateCall.Event, name: String)] {
        switch self {
        case .claude, .codex, .qwen: GateCall.Event.allCases.map { ($0, $0.rawValue) }
        case .gemini: [(.start, "SessionStart"), (.prompt, "BeforeAgent"), (.tool, "BeforeTool")]
        // Prompts cannot be refused, and what is said to them is dropped.
        case .copilot: [(.start, "SessionStart"), (.tool, "PreToolUse")]
        }
    }
}

/// A call of a hook: what its standard input says about the session, the model and the working directory.
///
/// All tools use the same names. Codex states the model each time, Claude Code and Qwen Code in `SessionStart` alone.
package struct GateCall: Sendable, Equatable {
    /// In the order in which they are installed, by the names of Claude Code.
    package enum Event: String, Sendable, CaseIterable {
        case start = "SessionStart"
        case prompt = "UserPromptSubmit"
        case tool = "PreToolUse"
        case end = "Stop"
        case subagentEnd = "SubagentStop"

        /// Whether the agent can be made to wait here.
        package var canWait: Bool { self == .prompt || self == .tool }
    }

    package let tool: GateTool
    package let event: Event
    /// As the tool names it.
    package let eventName: String
    package let session: String
    package let directory: String?
    package let model: String?

    private static let textLimit = 4_096

    /// Nil without an event that the gate is asked at, or a session. Members behind a text that is cut are missing.
    package init?(_ input: Data, of tool: GateTool) {
        let fields = Self.texts(in: input, named: ["session_id", "hook_event_name", "cwd", "model"])
        let stated = fields["hook_event_name"]
        guard let event = tool.events.first(where: { $0.name == stated })?.event, let session = fields["session_id"],
            !session.isEmpty
        else { return nil }
        self.tool = tool
        self.event = event
        eventName = stated ?? ""
        self.session = session
        directory = fields["cwd"]
        model = fields["model"]
    }

    /// Members of the object itself whose values are texts, in one pass over what may be megabytes of a tool's input.
    private static func texts(in input: Data, named names: Set<String>) -> [String: String] {
        input.withUnsafeBytes { buffer in
            var bytes = JSONBytes(buffer)
            var found: [String: String] = [:]
            var depth = 0
            var name: String?
            var isValue = false
            while true {
                switch bytes.next() {
                case 0: return found
                case UInt8(ascii: "\""):
                    guard let text = bytes.string() else { return found }
                    guard depth == 1, text.count <= textLimit else { continue }
                    if !isValue {
                        name = decoded(text)
                    } else if let name, names.contains(name) {
                        found[name] = decoded(text)
                    }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: ":") where depth == 1: isValue = true
                case UInt8(ascii: ",") where depth == 1: isValue = false
                default: break
                }
                bytes.advance()
            }
        }
    }

    private static func decoded(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        guard text.contains(UInt8(ascii: "\\")) else { return String(validating: text, as: UTF8.self) }
        // Invalid text is missing.
        return try? JSONDecoder().decode(String.self, from: Data([0x22]) + Data(text) + Data([0x22]))
    }
}
