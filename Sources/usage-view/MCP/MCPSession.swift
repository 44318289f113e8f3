import Essentials
import KVStoreWire

/// What a client has to be answered, line by line: since 2026-07-28 each request says its version itself, before that
/// the first one does, `initialize`.
struct MCPSession {
    enum Step {
        case answer(MCPAnswer)
        case read(MCPCall)
        case wait(MCPCall)
        /// Nothing is answered to this request any more.
        case cancel(MCPMessage.ID)
    }

    /// Bytes of a line.
    static let lineLimit = 1_048_576
    static let versions = [modern] + legacy
    static let server = ["name": "usage-view", "version": ProgramVersion.text]

    private static let modern = "2026-07-28"
    private static let legacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    private static let capabilities = ["tools": [String: String](), "resources": [:]]
    /// Lists change with the program alone.
    private static let listSeconds = 3_600

    private var isInitialized = false

    /// - Parameter line: without its end; nil for one with more bytes than `lineLimit`.
    /// - Returns: nil where there is nothing to do.
    mutating func receive(_ line: [UInt8]?) -> Step? {
        guard let line else { return .refusal(.request("a line has more than \(Self.lineLimit) bytes")) }
        if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { return nil }
        let data = Data(line)
        do throws(WireError) {
            switch try WireJSON.decode(MCPMessage.self, from: data) {
            case .answer: return nil
            case .notification(let method): return notified(method, data)
            case .request(let id, let method): return requested(id, method, data)
            }
        } catch {
            return .refusal(error == .notJSON ? .json : .request(error.description))
        }
    }

    private func notified(_ method: String, _ line: Data) -> Step? {
        // What cannot be read, or names no request, is to be ignored.
        method == "notifications/cancelled" ? (try? MCPParameters(line))?.requestId.map { .cancel($0) } : nil
    }

    private mutating func requested(_ id: MCPMessage.ID, _ method: String, _ line: Data) -> Step {
        var isModern = false
        do throws(MCPError) {
            let parameters = try MCPParameters(line)
            isModern = parameters.metadata?.version != nil
            if method != "initialize" { try check(parameters, method) }
            return try step(id, method, parameters, isModern: isModern && method != "initialize")
        } catch {
            return .refusal(error, id, isModern: isModern)
        }
    }

    /// That a request says its version, or that one has been agreed on.
    private func check(_ parameters: MCPParameters, _ method: String) throws(MCPError) {
        guard let version = parameters.metadata?.version else {
            if isInitialized && method != "server/discover" || method == "ping" { return }
            throw .parameters("there is no protocol version in _meta, and 'initialize' has not been called")
        }
        guard version == Self.modern else { throw .version(version) }
        if parameters.metadata?.capabilities == nil { throw .parameters("there are no clientCapabilities in _meta") }
    }

    private mutating func step(
        _ id: MCPMessage.ID, _ method: String, _ parameters: MCPParameters, isModern: Bool
    ) throws(MCPError) -> Step {
        func result(_ body: some Encodable & Sendable, isKept: Bool = true) -> Step {
            .answer(
                MCPAnswer(
                    id: id, isModern: isModern,
                    content: .result(body, secondsKept: isKept ? Self.listSeconds : nil)))
        }
        func list(_ body: some Encodable & Sendable) throws(MCPError) -> Step {
            // There is one page of each.
            if parameters.cursor != nil { throw .parameters("unknown cursor") }
            return result(body)
        }
        switch method {
        case "initialize":
            guard let version = parameters.protocolVersion else { throw .parameters("there is no protocolVersion") }
            isInitialized = true
            return result(
                Introduction(protocolVersion: Self.legacy.contains(version) ? version : Self.legacy[0]), isKept: false)
        case "ping" where !isModern: return result([String: String](), isKept: false)
        case "server/discover": return result(Discovery())
        case "tools/list": return try list(["tools": MCPTool.allCases])
        case "resources/list": return try list(["resources": MCPTool.resources.map(\.resource)])
        case "resources/templates/list": return try list(["resourceTemplates": [String]()])
        case "tools/call":
            guard let tool = parameters.name.flatMap(MCPTool.init) else {
                throw .parameters("unknown tool; known: " + MCPTool.allCases.map(\.rawValue).joined(separator: ", "))
            }
            let call = try tool.call(id, isModern: isModern, parameters.arguments ?? [:])
            return tool == .wait ? .wait(call) : .read(call)
        case "resources/read":
            guard let uri = parameters.uri else { throw .parameters("there is no uri") }
            guard let tool = MCPTool.resources.first(where: { $0.uri == uri }) else {
                throw .resource(isModern: isModern)
            }
            return .read(MCPCall(id: id, isModern: isModern, tool: tool, isResource: true))
        default: throw .method
        }
    }

    private struct Introduction: Encodable {
        var protocolVersion: String
        var capabilities = MCPSession.capabilities
        var serverInfo = MCPSession.server
    }

    private struct Discovery: Encodable {
        var supportedVersions = MCPSession.versions
        var capabilities = MCPSession.capabilities
    }
}

extension MCPSession.Step {
    static func refusal(_ error: MCPError, _ id: MCPMessage.ID? = nil, isModern: Bool = false) -> Self {
        .answer(MCPAnswer(id: id, isModern: isModern, content: .error(error)))
    }
}
