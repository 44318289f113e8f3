import KVStoreWire
import NIOCore

/// The authority for devices that install it. Needs no token: every client gets the certificate in the handshake.
extension StoreServer {
    /// The private authority of the certificate that the server presents; nil without one.
    package var certificateAuthority: CertificateAuthority? { certificate?.authority }

    func authorityCertificate() throws(Problem) -> Answer {
        Answer("application/x-x509-ca-cert", ByteBuffer(bytes: try authority().der))
    }

    func authorityProfile() throws(Problem) -> Answer {
        .text(ConfigurationProfile(authority: try authority()).text, type: ConfigurationProfile.type)
    }

    private func authority() throws(Problem) -> CertificateAuthority {
        guard let authority = certificateAuthority else { throw .noAuthority }
        return authority
    }
}
