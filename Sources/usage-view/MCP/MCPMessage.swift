import Essentials
import KVStoreWire

/// What a client sends in a line: JSON-RPC 2.0, without lists of messages.
///
/// The versions of the protocol and what differs between them are in `docs/agent-hooks.md`, section 8.
enum MCPMessage: Decodable {
    case request(ID, method: String)
    case notification(method: String)
    /// An answer, although nothing has been asked.
    case answer

    enum ID: Codable, Hashable, Sendable {
        case number(Int64)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number = try? container.decode(Int64.self)  // Else it must be text.
            self = try number.map { .number($0) } ?? .text(container.decode(String.self))
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .number(let number): try number.encode(to: encoder)
            case .text(let text): try text.encode(to: encoder)
            }
        }
    }

    private enum Field: CodingKey { case jsonrpc, id, method, result, error }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        guard try fields.decode(String.self, forKey: .jsonrpc) == "2.0" else {
            throw DecodingError.dataCorruptedError(forKey: .jsonrpc, in: fields, debugDescription: "")
        }
        guard fields.contains(.method) || !fields.contains(.result) && !fields.contains(.error) else {
            self = .answer
            return
        }
        let method = try fields.decode(String.self, forKey: .method)
        self =
            fields.contains(.id)
            ? .request(try fields.decode(ID.self, forKey: .id), method: method) : .notification(method: method)
    }
}

/// The parameters of all methods.
struct MCPParameters: Decodable {
    /// What a request since 2026-07-28 says about itself.
    struct Metadata: Decodable {
        struct Capabilities: Decodable {}

        var version: String?
        var capabilities: Capabilities?

        enum CodingKeys: String, CodingKey {
            case version = "io.modelcontextprotocol/protocolVersion"
            case capabilities = "io.modelcontextprotocol/clientCapabilities"
        }
    }

    enum Argument: Decodable {
        case text(String)
        case count(Int)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {  // Each type is tried.
                self = .text(text)
            } else if let count = try? container.decode(Int.self) {  // Each type is tried.
                self = .count(count)
            } else {
                self = .other
            }
        }
    }

    var metadata: Metadata?
    var protocolVersion: String?
    var name: String?
    var arguments: [String: Argument]?
    var uri: String?
    var cursor: String?
    var requestId: MCPMessage.ID?

    enum CodingKeys: String, CodingKey {
        case metadata = "_meta"
        case protocolVersion, name, arguments, uri, cursor, requestId
    }

    private struct Request: Decodable {
        var params: MCPParameters?
    }

    /// - Parameter line: a message whose form has been checked.
    init(_ line: Data) throws(MCPError) {
        do throws(WireError) {
            self = try WireJSON.decode(Request.self, from: line).params ?? MCPParameters()
        } catch {
            throw .parameters(error.description)
        }
    }

    private init() {}
}

/// Why a request is not answered with a result.
struct MCPError: Error, Encodable, Equatable {
    struct Versions: Encodable, Equatable {
        var supported: [String]
        var requested: String
    }

    var code: Int
    var message: String
    var data: Versions?

    static let json = MCPError(code: -32700, message: "not JSON")
    static func request(_ reason: String) -> MCPError { MCPError(code: -32600, message: "invalid request: \(reason)") }
    static let method = MCPError(code: -32601, message: "unknown method")
    static func parameters(_ reason: String) -> MCPError {
        MCPError(code: -32602, message: "invalid parameters: \(reason)")
    }
    static func resource(isModern: Bool) -> MCPError {
        MCPError(code: isModern ? -32602 : -32002, message: "unknown resource")
    }
    static func internalError(_ reason: String) -> MCPError { MCPError(code: -32603, message: reason) }
    static func version(_ requested: String) -> MCPError {
        MCPError(
            code: -32022, message: "unsupported protocol version",
            data: Versions(supported: MCPSession.versions, requested: requested))
    }
}

/// A line of the server: the answer to a request.
struct MCPAnswer: Encodable {
    enum Content {
        case error(MCPError)
        /// - Parameter secondsKept: how long a client may keep it; nil for a result that is not kept.
        case result(any Encodable & Sendable, secondsKept: Int? = nil)
    }

    /// Nil if the request has none that can be read.
    var id: MCPMessage.ID?
    /// Whether the request is one of 2026-07-28.
    var isModern: Bool
    var content: Content

    private enum Field: CodingKey { case jsonrpc, id, result, error }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode("2.0", forKey: .jsonrpc)
        try fields.encodeIfPresent(id, forKey: .id)
        switch content {
        case .error(let error): try fields.encode(error, forKey: .error)
        case .result(let result, let secondsKept):
            try fields.encode(
                Result(body: result, isModern: isModern, secondsKept: secondsKept), forKey: .result)
        }
    }

    private struct Result: Encodable {
        var body: any Encodable
        var isModern: Bool
        var secondsKept: Int?

        private enum Field: String, CodingKey { case resultType, ttlMs, cacheScope, metadata = "_meta" }

        func encode(to encoder: any Encoder) throws {
            try body.encode(to: encoder)
            guard isModern else { return }
            var fields = encoder.container(keyedBy: Field.self)
            try fields.encode("complete", forKey: .resultType)
            try fields.encode(["io.modelcontextprotocol/serverInfo": MCPSession.server], forKey: .metadata)
            guard let secondsKept else { return }
            try fields.encode(1_000 * secondsKept, forKey: .ttlMs)
            try fields.encode("private", forKey: .cacheScope)
        }
    }
}
