import Essentials
import UsageState

/// What a client may call. None of them changes anything; the first three are resources too.
enum MCPTool: String, CaseIterable, Sendable {
    case limits, cost, machines
    case wait = "wait_until_reset"

    static let resources: [MCPTool] = [.limits, .cost, .machines]
    static let longestWait = 3_600
    static let usualWait = 300

    var uri: String { "usage://\(rawValue)" }

    private var title: String {
        switch self {
        case .limits: "Usage limits"
        case .cost: "Tokens and cost"
        case .machines: "Machines"
        case .wait: "Wait until a limit is reset"
        }
    }

    private var text: String {
        switch self {
        case .limits:
            "How much of each limit of AI coding tools is used, on all machines of the user, and when it is reset."
        case .cost: "Tokens and cost of today, 7 and 30 days, by account, tool, model and machine."
        case .machines: "The machines that report usage, and how old the last report of each is."
        case .wait:
            "Waits until the limit with the least left is reset. Answers early if it is reset, "
                + "else after at_most_seconds; then it can be called again."
        }
    }

    private var parameters: [String: Parameter] {
        let accounts = [
            "provider": Parameter.text("Only this provider, by id or name, such as claude or codex."),
            "account": Parameter.text("Only this account."),
        ]
        return switch self {
        case .limits, .cost: accounts
        case .machines: [:]
        case .wait:
            accounts.merging([
                "window": .text("Only this window: session, weekly, or a label such as 5h, 7d or Opus."),
                "at_most_seconds": Parameter(
                    type: "integer", description: "How long to wait; \(Self.usualWait) if absent.", minimum: 1,
                    maximum: Self.longestWait),
            ]) { $1 }
        }
    }

    /// What JSON Schema says about an argument.
    private struct Parameter: Encodable {
        var type: String
        var description: String
        var maxLength: Int?
        var minimum: Int?
        var maximum: Int?

        static func text(_ description: String) -> Parameter {
            Parameter(type: "string", description: description, maxLength: 200)
        }

        func accepts(_ argument: MCPParameters.Argument) -> Bool {
            switch argument {
            case .text(let text): type == "string" && text.unicodeScalars.count <= maxLength ?? .max
            case .count(let count): type == "integer" && count >= minimum ?? .min && count <= maximum ?? .max
            case .other: false
            }
        }
    }

    /// What is to be done, with the arguments of a call.
    func call(
        _ id: MCPMessage.ID, isModern: Bool, _ arguments: [String: MCPParameters.Argument]
    ) throws(MCPError) -> MCPCall {
        var call = MCPCall(id: id, isModern: isModern, tool: self, isResource: false)
        for (name, argument) in arguments {
            guard let parameter = parameters[name] else {
                let known = parameters.keys.sorted().joined(separator: ", ")
                throw .parameters("\(rawValue) takes " + (known.isEmpty ? "no arguments" : "only \(known)"))
            }
            guard parameter.accepts(argument) else { throw .parameters("\(name) is out of range or of another type") }
            switch (name, argument) {
            case ("provider", .text(let text)): call.selection.providers = [text]
            case ("account", .text(let text)): call.selection.account = text
            case ("window", .text(let text)): call.selection.window = text
            case (_, .count(let count)): call.seconds = count
            default: break
            }
        }
        return call
    }
}

extension MCPTool: Encodable {
    private enum Field: CodingKey { case name, title, description, inputSchema, annotations }

    private struct Schema: Encodable {
        var type = "object"
        var properties: [String: Parameter]
        var additionalProperties = false
    }

    /// As `tools/list` describes it.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(rawValue, forKey: .name)
        try fields.encode(title, forKey: .title)
        try fields.encode(text, forKey: .description)
        try fields.encode(Schema(properties: parameters), forKey: .inputSchema)
        let hints = ["readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false]
        try fields.encode(hints, forKey: .annotations)
    }

    /// As `resources/list` describes it.
    var resource: [String: String] {
        ["uri": uri, "name": rawValue, "title": title, "description": text, "mimeType": Self.mediaType]
    }

    static let mediaType = "application/json"
}
