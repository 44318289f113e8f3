import Crypto
import Essentials
import KVStoreWire
import LocalFiles
import NIOSSL
import SwiftASN1
import X509

/// The key and certificate that a server makes for itself:
///
///     tls-key.pem            a P-256 key, made once: clients recognize the server by it
///     tls-certificate.pem    a self-signed certificate for it, replaced before it expires
///
/// Both have mode 0600. Calls block.
struct OwnCertificate: Sendable {
    let files: CertificateFiles

    private static let validity: TimeInterval = 397 * 86_400
    /// Renewed when less than this is left.
    private static let margin: TimeInterval = 30 * 86_400
    /// For clients whose clock is behind.
    private static let leeway: TimeInterval = 86_400

    init(directory: String) {
        files = CertificateFiles(
            certificate: LocalFile(directory + "/tls-certificate.pem"),
            key: LocalFile(directory + "/tls-key.pem"))
    }

    /// Makes what is missing, invalid, or due for renewal at `now`.
    func prepare(now: Date) throws(ServerError) {
        do {
            let key = try readKey() ?? makeKey()
            if try isCurrent(key, now: now) { return }
            let certificate = try Self.certificate(for: key, now: now)
            try files.certificate.replace(
                with: Data((try certificate.serializeAsPEM().pemString + "\n").utf8))
        } catch let error as ServerError {
            throw error
        } catch let error as FileError {
            throw ServerError(.storage, error.description)
        } catch {
            throw ServerError(
                .storage, "cannot make a certificate in \(files.certificate.path): \(error)")
        }
    }

    private func readKey() throws -> P256.Signing.PrivateKey? {
        let path = files.key.path
        guard let content = try files.key.read(byteLimit: CertificateFiles.byteCount) else {
            return nil
        }
        guard content.status.permissions & 0o077 == 0 else {
            throw ServerError(
                .unreadable, "other users may read the private key \(path)",
                hint: "run chmod 600 \(path); if one of them may have read it, remove it instead "
                    + "and pair every device again")
        }
        let text = String(decoding: content.data, as: UTF8.self)
        // The error of the parser might quote the key.
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw ServerError(
                .unreadable, "cannot read \(path): not a P-256 private key in PEM",
                hint: "restore it from a backup, or remove it and pair every device again")
        }
        return key
    }

    private func makeKey() throws -> P256.Signing.PrivateKey {
        let key = P256.Signing.PrivateKey()
        if try files.key.create(with: Data((key.pemRepresentation + "\n").utf8)) { return key }
        guard let former = try readKey() else {
            throw ServerError(.storage, "\(files.key.path) was removed while it was opened")
        }
        return former
    }

    private func isCurrent(_ key: P256.Signing.PrivateKey, now: Date) throws(FileError) -> Bool {
        guard
            let content = try files.certificate.read(byteLimit: CertificateFiles.byteCount),
            let certificate = try? NIOSSLCertificate(bytes: Array(content.data), format: .pem),
            certificate.keyFingerprint == KeyFingerprint(key)
        else { return false }
        return !Self.isDue(certificate, now: now)
    }

    /// Whether the certificate should be replaced: soon expired, or issued by a clock that was ahead.
    static func isDue(_ certificate: NIOSSLCertificate, now: Date) -> Bool {
        let seconds = now.timeIntervalSince1970
        return seconds < Double(certificate.notValidBefore)
            || seconds > Double(certificate.notValidAfter) - margin
    }

    private static func certificate(
        for key: P256.Signing.PrivateKey, now: Date
    ) throws -> Certificate {
        let name = try DistinguishedName { CommonName("kvsd") }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: now - leeway, notValidAfter: now + validity,
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                SubjectAlternativeNames([.dnsName("kvsd")])
            },
            issuerPrivateKey: Certificate.PrivateKey(key))
    }
}
