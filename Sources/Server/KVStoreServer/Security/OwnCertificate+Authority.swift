import Crypto
import Essentials
import LocalFiles
import SwiftASN1
import X509

/// The authority of a server. Its key is in `tls-authority.pem` and nowhere else.
extension OwnCertificate {
    private static let hint =
        "run 'kvsd certificate authority remove' and create it again; devices must install the new one"

    typealias Authority = (certificate: CertificateAuthority, key: P256.Signing.PrivateKey)

    /// The authority with its key; nil if there is none.
    func readAuthority() throws(ServerError) -> Authority? {
        try wrappingErrors(of: authorityFile) {
            guard let text = try Self.readPrivate(authorityFile, ifOpen: Self.hint) else { return nil }
            // The error of the parser might quote the key.
            guard let documents = try? PEMDocument.parseMultiple(pemString: text),
                documents.count == 2,
                // What cannot be read is an error below.
                let key = try? P256.Signing.PrivateKey(pemRepresentation: documents[0].pemString),
                let certificate = CertificateAuthority(der: documents[1].derBytes),
                certificate.certificate.publicKey == .init(key.publicKey)
            else {
                throw ServerError(
                    .unreadable, "cannot read \(authorityFile.path): not a P-256 private key and its authority in PEM",
                    hint: Self.hint)
            }
            return (certificate, key)
        }
    }

    /// Creates an authority for the hosts, and has it issue the certificate of the server.
    ///
    /// - Returns: nil if there is an authority and it is not to be replaced. It then has issued the certificate.
    /// - Throws: `invalidAuthority` for none or too many hosts, and for a name under which others have hosts.
    func createAuthority(
        for hosts: [CertificateHost], replacing: Bool, now: Date
    ) throws(ServerError) -> CertificateAuthority? {
        guard (1...CertificateAuthority.hostCount).contains(hosts.count) else {
            throw ServerError(
                .invalidAuthority,
                "an authority is for 1 to \(CertificateAuthority.hostCount) names and addresses, not \(hosts.count)",
                hint: "name those that devices use, with --name and --only")
        }
        if let shared = hosts.first(where: \.isShared) {
            throw ServerError(
                .invalidAuthority,
                "an authority for \(shared) could pose as every host below \(shared) to each device that trusts it",
                hint: "name the host of this daemon alone, such as box.\(shared), or its address")
        }
        return try files.key.locked { () throws(ServerError) in
            // A damaged one is replaced too.
            if !replacing, try readAuthority() != nil {
                try prepareLocked(now: now)
                return nil
            }
            let authority = try wrappingErrors(of: authorityFile) {
                let key = P256.Signing.PrivateKey()
                let authority = try CertificateAuthority(hosts: hosts, key: key, now: now)
                let certificate = try authority.certificate.serializeAsPEM().pemString
                let text = "\(key.pemRepresentation)\n\(certificate)\n"
                // One file, so that key and certificate always belong together.
                try authorityFile.replace(with: Data(text.utf8))
                return authority
            }
            try prepareLocked(now: now)
            return authority
        }
    }

    /// Replaces the certificate of the server by a self-signed one for the same key, then removes the authority with
    /// its key: in this order, an interrupted removal can be repeated.
    func removeAuthority(now: Date) throws(ServerError) {
        try files.key.locked { () throws(ServerError) in
            try replaceCertificate(authority: nil, now: now)
            try ServerError.wrapping { () throws(FileError) in try authorityFile.remove() }
        }
    }
}
