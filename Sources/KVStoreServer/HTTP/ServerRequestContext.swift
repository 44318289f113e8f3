import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// What a request carries through the middlewares.
struct ServerRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection.
    let channel: any Channel
    /// Set behind authentication.
    var device: Device?
    /// How much of the request's body has been read.
    let body = BodyProgress()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The peer without its port.
    var address: String { channel.remoteAddress?.ipAddress ?? "local" }

    /// The device behind the token, with the scope.
    func caller(_ scope: DeviceScope) throws(Problem) -> Device {
        guard let device else { throw .unauthorized }
        guard device.scopes.contains(scope) else {
            throw scope == .write ? .readOnly : .writeOnly
        }
        return device
    }
}

/// Whether a body still stands in the connection.
final class BodyProgress: Sendable {
    enum State: Sendable {
        case untouched, whole
        /// A live stream reads on until the peer goes.
        case streaming
        /// Read in part: the connection cannot be used again.
        case partly
    }

    private let current = Mutex(State.untouched)

    var state: State {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

extension Request {
    /// Refuses what the daemon does not read at all.
    func checkBody(_ limits: ServerLimits) throws(Problem) {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw .encodingNotAccepted
        }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyByteCount
        {
            throw .bodyTooLarge(limit: limits.bodyByteCount)
        }
    }

    /// Whether bytes follow the head.
    var announcesBody: Bool {
        headers[.transferEncoding] != nil
            || headers[.contentLength].map { $0 != "0" } ?? false
    }

    /// Reads a body that nobody wants, so that the connection can be used again; false when that
    /// would take too much.
    func drain(_ context: ServerRequestContext, _ limits: ServerLimits) async -> Bool {
        guard announcesBody, context.body.state != .whole else { return true }
        guard context.body.state == .untouched,
            headers[.contentLength].flatMap({ Int($0) }) ?? 0 <= limits.bodyByteCount
        else { return false }
        do {
            return try await Deadline.run(milliseconds: limits.drainMilliseconds) {
                var byteCount = 0
                for try await buffer in body {
                    byteCount += buffer.readableBytes
                    if byteCount > limits.bodyByteCount { return false }
                }
                return true
            }
        } catch {
            return false
        }
    }

    /// The whole body, within the limits of size and time.
    func wholeBody(_ context: ServerRequestContext, _ limits: ServerLimits) async throws
        -> ByteBuffer
    {
        do {
            context.body.state = .partly
            let whole = try await Deadline.run(milliseconds: limits.requestMilliseconds) {
                try await body.collect(upTo: limits.bodyByteCount)
            }
            context.body.state = .whole
            return whole
        } catch is NIOTooManyBytesError {
            throw Problem.bodyTooLarge(limit: limits.bodyByteCount)
        } catch is DeadlineExceeded {
            throw Problem.requestTimeout(milliseconds: limits.requestMilliseconds)
        }
    }
}
