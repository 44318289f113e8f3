import Crypto
import Essentials
import KVStoreWire
import LocalFiles
import NIOCore
import NIOSSL

/// A certificate with its chain, and the private key of it, in PEM.
struct CertificateFiles: Sendable, Equatable {
    let certificate: LocalFile
    let key: LocalFile

    static let byteCount = 1_024 * 1_024

    /// What changes when a file is replaced or rewritten, also one behind a symbolic link.
    var statuses: [FileStatus?] {
        [certificate, key].map { (try? FileStatus(path: $0.path)) ?? nil }  // `load` says why a file cannot be read
    }

    /// The chain is never empty.
    ///
    /// - Throws: an error without any part of the key.
    func load() throws(ServerError) -> (context: NIOSSLContext, chain: [NIOSSLCertificate]) {
        let chain = try Self.chain(certificate)
        guard
            // The error might quote the key.
            let privateKey = try? NIOSSLPrivateKey(bytes: Array(try Self.read(key)), format: .pem)
        else { throw Self.unreadable(key, "not an unencrypted private key in PEM") }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = ["http/1.1"]
        // A connection that is closed for a limit must not wait for the peer to close too. Last answers have been read
        // or timed out by then.
        configuration.shutdownTimeout = .zero
        do {
            return (try NIOSSLContext(configuration: configuration), chain)
        } catch {
            throw Self.unreadable(key, "not the private key of \(certificate.path)")
        }
    }

    /// The certificate and those of its issuers; never empty.
    static func chain(_ file: LocalFile) throws(ServerError) -> [NIOSSLCertificate] {
        let bytes = Array(try read(file))
        // The error thrown below names the file.
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
            throw unreadable(file, "not a certificate in PEM")
        }
        return chain
    }

    /// The fingerprint of a certificate's public key.
    static func keyFingerprint(of certificate: LocalFile) throws(ServerError) -> KeyFingerprint {
        guard let fingerprint = try chain(certificate)[0].keyFingerprint else {
            throw unreadable(certificate, "unknown kind of public key")
        }
        return fingerprint
    }

    private static func read(_ file: LocalFile) throws(ServerError) -> Data {
        let content = try ServerError.wrapping { () throws(FileError) in try file.read(byteLimit: byteCount) }
        guard let content else { throw ServerError(.storage, "cannot open \(file.path): no such file") }
        return content.data
    }

    private static func unreadable(_ file: LocalFile, _ reason: String) -> ServerError {
        ServerError(.unreadable, "cannot read \(file.path): \(reason)")
    }
}

extension NIOSSLCertificate {
    /// Nil for a kind of key that the library does not know.
    var keyFingerprint: KeyFingerprint? {
        guard let key = try? extractPublicKey().toSPKIBytes() else { return nil }  // nil says it
        return KeyFingerprint(SHA256.hash(data: key))
    }
}

extension KeyFingerprint {
    init?(_ key: P256.Signing.PrivateKey) {
        self.init(SHA256.hash(data: key.publicKey.derRepresentation))
    }
}
