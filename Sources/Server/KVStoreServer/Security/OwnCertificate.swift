import Crypto
import Essentials
import KVStoreWire
import LocalFiles
import NIOSSL
import SwiftASN1
import X509

/// The key and certificate that a server generates for itself:
///
///     tls-key.pem            a P-256 key, generated once: clients recognize the server by it
///     tls-certificate.pem    a certificate for it, replaced before it expires: self-signed, or with its authority
///     tls-authority.pem      the key of the authority and its certificate, if there is one
///
/// All have mode 0600. Calls block.
struct OwnCertificate: Sendable {
    let files: CertificateFiles
    let authorityFile: LocalFile

    static let validity: TimeInterval = 397 * 86_400
    /// Renewed when less than this is left.
    private static let margin: TimeInterval = 30 * 86_400
    /// For clients whose clock is behind.
    static let leeway: TimeInterval = 86_400

    init(directory: String) {
        files = CertificateFiles(
            certificate: LocalFile(directory + "/tls-certificate.pem"), key: LocalFile(directory + "/tls-key.pem"))
        authorityFile = LocalFile(directory + "/tls-authority.pem")
    }

    /// Creates what is missing, invalid, of another authority, or due for renewal at `now`.
    func prepare(now: Date) throws(ServerError) {
        // Without the lock, so that a server starts on a full disk.
        if try isCurrent(now: now) { return }
        try files.key.locked { () throws(ServerError) in try prepareLocked(now: now) }
    }

    /// Does what `prepare` does. For a caller that holds the lock of the key, which is that of all three files.
    func prepareLocked(now: Date) throws(ServerError) {
        if try isCurrent(now: now) { return }
        try replaceCertificate(authority: try readAuthority(), now: now)
    }

    /// Issues a certificate by the authority, or signs one itself. For a caller that holds the lock of the key.
    func replaceCertificate(authority: Authority?, now: Date) throws(ServerError) {
        try wrappingErrors(of: files.certificate) {
            let key = try readKey() ?? generateKey()
            let chain =
                if let authority {
                    [
                        try authority.certificate.issue(for: key.publicKey, signedBy: authority.key, now: now),
                        authority.certificate.certificate,
                    ]
                } else {
                    [try Self.selfSigned(key, now: now)]
                }
            let text = try chain.map { try $0.serializeAsPEM().pemString + "\n" }.joined()
            try files.certificate.replace(with: Data(text.utf8))
        }
    }

    /// Gives errors of the libraries the name of the file that was read or written.
    func wrappingErrors<Result>(of file: LocalFile, _ body: () throws -> Result) throws(ServerError) -> Result {
        do {
            return try body()
        } catch let error as ServerError {
            throw error
        } catch let error as FileError {
            throw ServerError(.storage, error.description)
        } catch {
            throw ServerError(.storage, "\(file.path): \(error)")
        }
    }

    private func readKey() throws -> P256.Signing.PrivateKey? {
        let path = files.key.path
        guard
            let text = try Self.readPrivate(files.key, ifOpen: "remove it instead and pair every device again")
        else { return nil }
        // The error of the parser might quote the key.
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw ServerError(
                .unreadable, "cannot read \(path): not a P-256 private key in PEM",
                hint: "restore it from a backup, or remove it and pair every device again")
        }
        return key
    }

    /// The text of a file with a private key; nil if there is none.
    ///
    /// - Parameter remedy: what to do if another user has read it.
    static func readPrivate(_ file: LocalFile, ifOpen remedy: String) throws -> String? {
        guard let content = try file.read(byteLimit: CertificateFiles.byteCount) else { return nil }
        guard content.status.permissions & 0o077 == 0 else {
            throw ServerError(
                .unreadable, "other users may read the private key \(file.path)",
                hint: "run chmod 600 \(file.path); if one of them may have read it, \(remedy)")
        }
        return String(decoding: content.data, as: UTF8.self)
    }

    private func generateKey() throws -> P256.Signing.PrivateKey {
        let key = P256.Signing.PrivateKey()
        if try files.key.create(with: Data((key.pemRepresentation + "\n").utf8)) { return key }
        guard let former = try readKey() else {
            throw ServerError(.storage, "\(files.key.path) was removed while it was opened")
        }
        return former
    }

    /// Whether the certificate is valid, for the key and of the authority.
    private func isCurrent(now: Date) throws(ServerError) -> Bool {
        try wrappingErrors(of: files.certificate) {
            let authority = try readAuthority()?.certificate
            guard let key = try readKey(),
                let content = try files.certificate.read(byteLimit: CertificateFiles.byteCount),
                // An unreadable one is made again.
                let chain = try? NIOSSLCertificate.fromPEMBytes(Array(content.data)),
                chain.first?.keyFingerprint == KeyFingerprint(key), chain.count < 3
            else { return false }
            let issuer = chain.count > 1 ? try? chain[1].toDERBytes() : nil  // one without an issuer is made again
            return issuer == authority?.der && !Self.isDue(chain[0], now: now)
        }
    }

    /// Whether the certificate should be replaced: soon expired, or issued by a clock that was ahead.
    static func isDue(_ certificate: NIOSSLCertificate, now: Date) -> Bool {
        let seconds = now.timeIntervalSince1970
        return seconds < Double(certificate.notValidBefore) || seconds > Double(certificate.notValidAfter) - margin
    }

    private static func selfSigned(_ key: P256.Signing.PrivateKey, now: Date) throws -> Certificate {
        let name = try DistinguishedName { CommonName("kvsd") }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: now - leeway, notValidAfter: now + validity,
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                // Without it Safari refuses the connection instead of warning.
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([.dnsName("kvsd")])
            },
            issuerPrivateKey: Certificate.PrivateKey(key))
    }
}
