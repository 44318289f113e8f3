package import Foundation
import HTTPTypes
import Hummingbird

/// An error as the wire says it: `application/problem+json` (RFC 9457) with a stable code.
struct Problem: Error, Sendable, Equatable {
    var status: HTTPResponse.Status
    /// Stable; programs decide by it.
    var code: String
    var title: String
    var detail: String
    /// The limit that was hit, in the unit that the detail names.
    var limit: Int64?
    /// What to do.
    var hint: String
    var retryAfterSeconds: Int64?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ title: String, detail: String,
        limit: Int? = nil, hint: String, retryAfterSeconds: Int64? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.limit = limit.map { Int64($0) }
        self.hint = hint
        self.retryAfterSeconds = retryAfterSeconds
    }

    private struct Document: Encodable {
        var type = "about:blank"
        var title: String
        var status: Int
        var code: String
        var detail: String
        var limit: Int64?
        var hint: String
    }

    /// The JSON document.
    var document: Data {
        WireJSON.encode(
            Document(
                title: title, status: Int(status.code), code: code, detail: detail, limit: limit,
                hint: hint))
    }

    var response: Response {
        var response = Response(
            status: status, headers: [.contentType: "application/problem+json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document)))
        if let retryAfterSeconds { response.headers[.retryAfter] = String(retryAfterSeconds) }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

extension HTTPResponse.Status {
    static let insufficientStorage = HTTPResponse.Status(
        code: 507, reasonPhrase: "Insufficient Storage")
}

extension Response {
    /// A document that always encodes: texts, numbers and bytes.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok
    ) -> Response {
        let data = WireJSON.encode(value)
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }
}

/// JSON as the daemon writes and reads it.
package enum WireJSON {
    /// One line; slashes as they are, so that base64 does not grow.
    package static func encode(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return (try? encoder.encode(value)) ?? Data("{}".utf8)
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from buffer: ByteBuffer, limits: ServerLimits
    ) throws(Problem) -> Value {
        guard JSONDepth.isWithin(limits.jsonDepth, buffer.readableBytesView) else {
            throw .tooDeep(limit: limits.jsonDepth)
        }
        do {
            return try JSONDecoder().decode(type, from: Data(buffer.readableBytesView))
        } catch let error as DecodingError {
            throw .malformed(words(error))
        } catch {
            throw .malformed("the body is not JSON")
        }
    }

    /// Where it went wrong, without quoting any of it.
    private static func words(_ error: DecodingError) -> String {
        func place(_ path: [any CodingKey]) -> String {
            let text = path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            return text.isEmpty ? "the document" : text.prefix(4).joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context):
            return "\(place(context.codingPath)) lacks \"\(key.stringValue)\""
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(place(context.codingPath)) has another type than the protocol says"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "\(place(context.codingPath)) is not what the protocol says"
        default: return "the body is not JSON"
        }
    }
}
