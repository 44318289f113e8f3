#if Network || PostgreSQL
    import AsyncHTTPClient
    import Essentials
    import KVStoreEssentials
    import KVStoreWire
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL

    extension DaemonConnection {
        /// An error of the network stack or a decoder, as a sentence with the address and the cause.
        func transportError(_ error: any Error) -> SyncTransportError {
            switch error {
            case let error as SyncTransportError: error
            case let error as WireError: .malformed("\(address): \(error)")
            case let error as ResponseAccumulator.ResponseTooBigError:
                .malformed("\(address): the answer has more than \(error.maxBodySize) bytes")
            default:
                switch Cause(error, timeouts) {
                case .connecting(let cause): .unreachable("cannot connect to \(address.authority): \(cause)")
                case .exchange(let cause): .unreachable("request to \(address.authority) failed: \(cause)")
                }
            }
        }
    }

    /// Why there was no answer: a failure to connect, or one on an open connection.
    private enum Cause {
        case connecting(String)
        case exchange(String)

        init(_ error: any Error, _ timeouts: HTTPTimeouts) {
            self =
                switch error {
                case is CancellationError: .exchange("cancelled")
                case let error as HTTPClientError: Self(error, timeouts)
                case let error as PinningError: .connecting(error.description)
                case let error as NIOSSLError: Self(error)
                case let error as NIOConnectionError:
                    .connecting(
                        error.connectionErrors.lazy.compactMap { $0.error as? IOError }.first
                            .map(Self.message) ?? "unknown host")
                case let error as IOError where ![ECONNRESET, EPIPE].contains(error.errnoCode):
                    .connecting(Self.message(error))
                case ChannelError.connectTimeout: Self(.connectTimeout, timeouts)
                case is IOError, is ChannelError, HTTPParserError.invalidEOFState: .exchange("connection lost")
                case is HTTPParserError: .exchange("the peer does not speak HTTP")
                default: .exchange("\(error)".printable(scalarLimit: HTTPLimits.errorScalarCount))
                }
        }

        private init(_ error: HTTPClientError, _ timeouts: HTTPTimeouts) {
            self =
                switch error {
                case .cancelled, .requestStreamCancelled: .exchange("cancelled")
                case .connectTimeout: .connecting("no answer within \(timeouts.connect.brief)")
                case .tlsHandshakeTimeout: .connecting("the TLS handshake timed out")
                case .readTimeout: .exchange("no data for \(timeouts.silence.brief)")
                case .deadlineExceeded, .writeTimeout, .getConnectionFromPoolTimeout:
                    .exchange("no complete answer within \(timeouts.request.brief)")
                case .remoteConnectionClosed, .uncleanShutdown: .exchange("connection lost")
                case .alreadyShutdown: .exchange("the transport is closed")
                default: .exchange(error.shortDescription)
                }
        }

        private init(_ error: NIOSSLError) {
            guard case .handshakeFailed(let reason) = error else {
                self = .exchange("connection lost")
                return
            }
            // The library has no codes for these.
            let text = "\(reason)"
            if text.contains("WRONG_VERSION_NUMBER") {
                self = .connecting("no TLS there; use http:// if it is on this machine")
            } else if text.contains("CERTIFICATE_VERIFY_FAILED") {
                self = .connecting(
                    "no authority that this machine trusts vouches for the daemon; run kvsd pair where "
                        + "kvsd runs, and kvs join with its line here")
            } else {
                self = .connecting(
                    "the TLS handshake failed: \(text.printable(scalarLimit: HTTPLimits.errorScalarCount))")
            }
        }

        private static func message(_ error: IOError) -> String {
            let text = String(cString: strerror(error.errnoCode)).lowercased()
            // Without its daemon, a socket is missing.
            return [ECONNREFUSED, ENOENT].contains(error.errnoCode) ? text + "; is kvsd running?" : text
        }
    }

    extension Duration {
        /// "30 s" or "250 ms".
        fileprivate var brief: String {
            let milliseconds = Int(self / .milliseconds(1))
            return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
        }
    }
#endif
