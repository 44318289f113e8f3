import Foundation
import HTTPTypes
import Hummingbird
import KVStoreCore
import KVStoreWire
import NIOCore

extension Response {
    static func json(_ document: some Encodable) -> Response {
        Response(.ok, MediaType.json, WireJSON.encode(document))
    }

    init(_ status: HTTPResponse.Status, _ type: String, _ body: some Sequence<UInt8>) {
        self.init(
            status: status, headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension Problem {
    var response: Response {
        var response = Response(HTTPResponse.Status(code: status), MediaType.problem, json)
        if let retryAfterSeconds { response.headers[.retryAfter] = String(retryAfterSeconds) }
        if status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

extension Request {
    /// Rejects requests by their head, before any of the body is read.
    func checkBody(_ limits: ServerLimits) throws(Problem) {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw .contentEncoding
        }
        if hasUnexpectedBody { throw .unexpectedBody }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyByteCount
        {
            throw .bodyTooLarge(limit: limits.bodyByteCount)
        }
    }

    /// Whether a request with this method should not have the body that follows.
    var hasUnexpectedBody: Bool {
        method != .put && method != .post
            && (headers[.transferEncoding] != nil || headers[.contentLength] ?? "0" != "0")
    }

    func bytes(_ limits: ServerLimits) async throws(Problem) -> Data {
        do {
            return Data(try await body.collect(upTo: limits.bodyByteCount).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw .bodyTooLarge(limit: limits.bodyByteCount)
        } catch {
            throw .malformed("the body is incomplete")
        }
    }

    func document<Document: Decodable>(_ limits: ServerLimits) async throws(Problem) -> Document {
        let data = try await bytes(limits)
        do throws(WireError) {
            return try WireJSON.decode(from: data, depthLimit: limits.jsonDepth)
        } catch {
            switch error {
            case .tooDeep(let limit): throw .tooDeep(limit: limit)
            default: throw .malformed(error.description)
            }
        }
    }
}
