import HTTPTypes
import Hummingbird
import NIOCore

/// The state of a request on its way through the middlewares.
struct ServerRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The peer's address without its port.
    let address: String
    /// Set by authentication.
    var device: Device?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "local"
    }

    /// The authenticated device, if it has the scope.
    func caller(_ scope: DeviceScope) throws(Problem) -> Device {
        guard let device else { throw .unauthorized }
        guard device.scopes.contains(scope) else {
            throw scope == .write ? .readOnly : .writeOnly
        }
        return device
    }
}

extension Request {
    /// Refuses a body before any of it is read, where its head is reason enough.
    func checkBody(_ limits: ServerLimits) throws(Problem) {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw .encodingNotAccepted
        }
        if hasUnexpectedBody { throw .unexpectedBody }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyByteCount
        {
            throw .bodyTooLarge(limit: limits.bodyByteCount)
        }
    }

    /// Whether a body follows for which the method has no use.
    var hasUnexpectedBody: Bool {
        method != .put && method != .post
            && (headers[.transferEncoding] != nil || headers[.contentLength] ?? "0" != "0")
    }

    func wholeBody(_ limits: ServerLimits) async throws(Problem) -> ByteBuffer {
        do {
            return try await body.collect(upTo: limits.bodyByteCount)
        } catch is NIOTooManyBytesError {
            throw .bodyTooLarge(limit: limits.bodyByteCount)
        } catch {
            throw .malformed("the body is incomplete")
        }
    }
}
