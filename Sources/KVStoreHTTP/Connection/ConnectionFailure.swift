import AsyncHTTPClient
import Foundation
import KVStore
import NIOCore
import NIOHTTP1
import NIOPosix

/// Turns what the network stack throws into words with the address and the cause.
enum ConnectionFailure {
    static func error(
        _ error: any Error, address: DaemonAddress, timeouts: HTTPTimeouts
    ) -> SyncTransportError {
        if let error = error as? SyncTransportError { return error }
        return .unreachable("\(address.authority): \(cause(error, timeouts: timeouts))")
    }

    private static func cause(_ error: any Error, timeouts: HTTPTimeouts) -> String {
        switch error {
        case is CancellationError: return "cancelled"
        case let error as HTTPClientError: return cause(error, timeouts: timeouts)
        case let error as NIOConnectionError: return cause(error)
        case let error as IOError: return cause(errno: error.errnoCode)
        case HTTPParserError.invalidEOFState: return "the connection broke"
        case is HTTPParserError: return "what answers there does not speak HTTP"
        case ChannelError.connectTimeout:
            return "no answer within \(words(timeouts.connect))"
        case is ChannelError: return "the connection broke"
        default: return ProblemDetails.plain("\(error)", limit: HTTPLimits.messageCharacterCount)
        }
    }

    private static func cause(_ error: HTTPClientError, timeouts: HTTPTimeouts) -> String {
        switch error {
        case .cancelled, .requestStreamCancelled: "cancelled"
        case .connectTimeout: "no answer within \(words(timeouts.connect))"
        case .tlsHandshakeTimeout: "the TLS handshake took too long"
        case .readTimeout: "nothing heard for \(words(timeouts.silence))"
        case .deadlineExceeded, .writeTimeout, .getConnectionFromPoolTimeout:
            "no whole answer within \(words(timeouts.request))"
        case .remoteConnectionClosed, .uncleanShutdown: "the connection broke"
        case .alreadyShutdown: "the connection was shut down here"
        default: error.shortDescription
        }
    }

    private static func cause(_ error: NIOConnectionError) -> String {
        for failure in error.connectionErrors {
            if let error = failure.error as? IOError { return cause(errno: error.errnoCode) }
        }
        if error.connectionErrors.isEmpty { return "the host name is not known" }
        return "no connection"
    }

    private static func cause(errno code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "connection refused — is kvsd running?"
        case ECONNRESET, EPIPE: "the connection broke"
        default: String(cString: strerror(code)).lowercased()
        }
    }

    /// "30 s" or "250 ms".
    static func words(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        return milliseconds == 0 ? "\(seconds) s" : "\(seconds * 1_000 + milliseconds) ms"
    }
}
