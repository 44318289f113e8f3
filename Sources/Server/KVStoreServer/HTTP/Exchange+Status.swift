import KVStoreLedger
import KVStoreWire
import NIOCore

/// For monitoring, and the authority for devices that install it. Needs no token: it names no account and counts all of
/// them together, and every client gets the certificate in the handshake.
extension Exchange {
    /// Whether devices are found and writes accepted.
    static func checkReadiness(_ exchange: Exchange) throws(Problem) {
        try exchange.engine.checkReadiness()
        guard exchange.server.devices.isReadable else { throw .databaseUnavailable }
        exchange.answer(.text("ready\n"))
    }

    static func getAuthority(_ exchange: Exchange) throws(Problem) {
        exchange.answer(Answer("application/x-x509-ca-cert", ByteBuffer(bytes: try exchange.authority.der)))
    }

    static func getAuthorityProfile(_ exchange: Exchange) throws(Problem) {
        let profile = ConfigurationProfile(authority: try exchange.authority)
        exchange.answer(.text(profile.text, type: ConfigurationProfile.type))
    }

    private var authority: CertificateAuthority {
        get throws(Problem) {
            guard let authority = server.certificateAuthority else { throw .noAuthority }
            return authority
        }
    }
}

extension StoreServer {
    /// The private authority of the certificate that the server presents; nil without one.
    package var certificateAuthority: CertificateAuthority? { certificate?.authority }

    /// The live streams of all devices.
    var streamCount: Int { engine.loops.reduce(0) { $0 + $1.streamCount } }

    func metricsText() -> Answer {
        .text(
            metrics.text(
                Metrics.Gauges(
                    database: engine.database, streams: streamCount, devices: devices.count,
                    log: engine.logState, memoryByteLimit: limits.memoryByteCount)),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
