import Crypto
import Essentials
import LocalFiles
import SwiftASN1
import X509

/// The authority of a server. Its key is in `tls-authority.pem` and nowhere else.
extension OwnCertificate {
    private static let hint =
        "run 'kvsd certificate authority remove' and create it again; devices must install the new one"

    /// The authority with its key; nil if there is none.
    func readAuthority() throws(ServerError) -> (
        certificate: CertificateAuthority, key: P256.Signing.PrivateKey
    )? {
        try making(authorityFile) {
            guard let text = try Self.readPrivate(authorityFile, ifOpen: Self.hint) else {
                return nil
            }
            // The error of the parser might quote the key.
            guard let documents = try? PEMDocument.parseMultiple(pemString: text),
                documents.count == 2,
                let key = try? P256.Signing.PrivateKey(
                    pemRepresentation: documents[0].pemString),
                let certificate = CertificateAuthority(der: documents[1].derBytes),
                certificate.certificate.publicKey == .init(key.publicKey)
            else {
                throw ServerError(
                    .unreadable,
                    "cannot read \(authorityFile.path): not a P-256 private key and its authority in PEM",
                    hint: Self.hint)
            }
            return (certificate, key)
        }
    }

    /// Makes an authority for the hosts, in place of a former one, and has it issue the certificate of the server.
    ///
    /// - Throws: `invalidAuthority` for none or too many hosts.
    func createAuthority(
        for hosts: [CertificateHost], now: Date
    ) throws(ServerError) -> CertificateAuthority {
        guard (1...CertificateAuthority.hostCount).contains(hosts.count) else {
            throw ServerError(
                .invalidAuthority,
                "an authority is for 1 to \(CertificateAuthority.hostCount) names and addresses, not \(hosts.count)"
            )
        }
        try checkOwner()
        let authority = try making(authorityFile) {
            let key = P256.Signing.PrivateKey()
            let authority = try CertificateAuthority(hosts: hosts, key: key, now: now)
            let certificate = try authority.certificate.serializeAsPEM().pemString
            let text = "\(key.pemRepresentation)\n\(certificate)\n"
            // One file, so that key and certificate always belong together.
            try authorityFile.replace(with: Data(text.utf8))
            return authority
        }
        try prepare(now: now)
        return authority
    }

    /// Removes the authority with its key, and makes a self-signed certificate for the same key of the server. Does nothing
    /// when there is none.
    func removeAuthority(now: Date) throws(ServerError) {
        try checkOwner()
        try ServerError.wrapping { () throws(FileError) in try authorityFile.remove() }
        try prepare(now: now)
    }

    /// A running server of another user could not read what this one writes.
    private func checkOwner() throws(ServerError) { try files.key.checkOwner() }
}
