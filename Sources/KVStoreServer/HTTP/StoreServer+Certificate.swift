import KVStoreWire
import NIOCore

/// The authority for devices that install it. Needs no token: every client gets the certificate in the handshake.
extension StoreServer {
    func authorityCertificate() throws(Problem) -> Answer {
        Answer("application/x-x509-ca-cert", ByteBuffer(bytes: try authority().der))
    }

    func authorityProfile() throws(Problem) -> Answer {
        .text(
            ConfigurationProfile(authority: try authority()).text, type: ConfigurationProfile.type)
    }

    private func authority() throws(Problem) -> CertificateAuthority {
        guard let authority = certificate?.authority else { throw .noAuthority }
        return authority
    }
}
