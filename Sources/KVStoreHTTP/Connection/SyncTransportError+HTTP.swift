import AsyncHTTPClient
import Foundation
import KVStore
import KVStoreWire
import NIOCore
import NIOHTTP1
import NIOPosix

extension SyncTransportError {
    /// An error of the network stack or a decoder, as a sentence with the address and the cause.
    init(_ error: any Error, from connection: DaemonConnection) {
        let address = connection.address
        let cause = Cause(error, timeouts: connection.timeouts)
        switch error {
        case let error as SyncTransportError: self = error
        case let error as WireError: self = .malformed("\(address): \(error)")
        case let error as ResponseAccumulator.ResponseTooBigError:
            self = .malformed("\(address): the answer has more than \(error.maxBodySize) bytes")
        case _ where cause.isConnecting:
            self = .unreachable("cannot connect to \(address.authority): \(cause.text)")
        default: self = .unreachable("request to \(address.authority) failed: \(cause.text)")
        }
    }
}

private struct Cause {
    var isConnecting = false
    var text = "connection lost"

    init(_ error: any Error, timeouts: HTTPTimeouts) {
        switch error {
        case is CancellationError: text = "cancelled"
        case let error as HTTPClientError: describe(error, timeouts)
        case let error as NIOConnectionError:
            isConnecting = true
            let code = error.connectionErrors.lazy.compactMap { $0.error as? IOError }.first?
                .errnoCode
            text = code.map(Self.message) ?? "unknown host"
        case let error as IOError where ![ECONNRESET, EPIPE].contains(error.errnoCode):
            isConnecting = true
            text = Self.message(error.errnoCode)
        case ChannelError.connectTimeout: describe(.connectTimeout, timeouts)
        case is IOError, is ChannelError, HTTPParserError.invalidEOFState: break
        case is HTTPParserError: text = "the peer does not speak HTTP"
        default: text = "\(error)".printable(scalarLimit: HTTPLimits.errorScalarCount)
        }
    }

    private mutating func describe(_ error: HTTPClientError, _ timeouts: HTTPTimeouts) {
        switch error {
        case .cancelled, .requestStreamCancelled: text = "cancelled"
        case .connectTimeout:
            isConnecting = true
            text = "no answer within \(timeouts.connect.brief)"
        case .tlsHandshakeTimeout:
            isConnecting = true
            text = "the TLS handshake timed out"
        case .readTimeout: text = "no data for \(timeouts.silence.brief)"
        case .deadlineExceeded, .writeTimeout, .getConnectionFromPoolTimeout:
            text = "no complete answer within \(timeouts.request.brief)"
        case .remoteConnectionClosed, .uncleanShutdown: break
        case .alreadyShutdown: text = "the transport is closed"
        default: text = error.shortDescription
        }
    }

    private static func message(_ code: CInt) -> String {
        code == ECONNREFUSED
            ? "connection refused; is kvsd running?" : String(cString: strerror(code)).lowercased()
    }
}

extension Duration {
    /// "30 s" or "250 ms".
    fileprivate var brief: String {
        let milliseconds = Int(self / .milliseconds(1))
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
