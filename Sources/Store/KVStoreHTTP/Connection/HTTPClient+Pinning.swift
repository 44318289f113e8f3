#if Network || PostgreSQL
    import AsyncHTTPClient
    import Crypto
    import KVStoreWire
    import NIOCore
    import NIOSSL

    extension HTTPClient.Configuration {
        /// Accepts only a daemon that has the key, whatever certificate it presents for it: names, issuers and validity
        /// do not matter. The handshake proves that the peer has the key of its certificate. Before a connection
        /// carries its first request, that key is compared.
        mutating func pin(_ key: KeyFingerprint) {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv13
            tls.certificateVerification = .none
            tlsConfiguration = tls
            http1_1ConnectionDebugInitializer = { channel in
                // Completes at once: the pool does not expect a connection to close before.
                do {
                    let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate()
                    let found = try certificate.flatMap {
                        KeyFingerprint(SHA256.hash(data: try $0.extractPublicKey().toSPKIBytes()))
                    }
                    guard found == key else { throw PinningError(expected: key, found: found) }
                    return channel.eventLoop.makeSucceededVoidFuture()
                } catch {
                    channel.eventLoop.execute { channel.close(promise: nil) }
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }
        }
    }

    /// The peer has another key than the pinned one.
    struct PinningError: Error, CustomStringConvertible {
        var expected: KeyFingerprint
        var found: KeyFingerprint?

        var description: String {
            """
            its key is \(found?.description ?? "unknown") instead of \(expected), the key of the daemon that was paired; \
            if kvsd was set up again, run kvsd pair there and kvs join with its line here; if not, another machine may be \
            posing as the daemon
            """
        }
    }
#endif
