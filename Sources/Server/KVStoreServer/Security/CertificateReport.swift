package import Essentials
package import KVStoreWire
import LocalFiles
import NIOSSL
import SwiftASN1
import X509

/// What browsers get from a running server, address by address. As JSON: fields are added, never renamed or removed.
package struct CertificateReport: Sendable, Equatable, Encodable {
    package enum Source: String, Sendable, Encodable {
        /// Without TLS.
        case none
        case selfSigned = "self-signed"
        /// From the private authority of the server.
        case authority
        /// The operator's own.
        case files
    }

    /// Which browsers trust an address without a warning.
    package enum Trust: String, Sendable, Encodable {
        case nobody
        /// Those of devices that have installed the authority.
        case installed
        /// Those that trust the authorities that this machine trusts.
        case system
        /// Those of this machine, which need no certificate on loopback (W3C, "Secure Contexts", section 3.1).
        case loopback
    }

    package struct Address: Sendable, Equatable, Encodable {
        package var url: String
        /// Whether the certificate is for this host.
        package var isNamed: Bool
        package let trust: Trust
        /// What the page can do where it is trusted as `trust` says.
        package let page: [String]

        init(url: String, isNamed: Bool, trust: Trust) {
            (self.url, self.isNamed, self.trust) = (url, isNamed, trust)
            page = trust == .nobody ? ["live"] : ["live", "install", "offline", "push"]
        }

        private enum CodingKeys: String, CodingKey {
            case url, trust, page
            case isNamed = "named"
        }
    }

    package struct Authority: Sendable, Equatable, Encodable {
        package var name: String
        package var fingerprint: String
        package var expires: Date
        package var hosts: [String]

        package init(_ authority: CertificateAuthority) {
            name = authority.name
            fingerprint = authority.fingerprint
            expires = authority.expires
            hosts = authority.hosts.map(\.description)
        }
    }

    package var schemaVersion = 1
    package var source = Source.none
    package var file: String?
    package var issuer: String?
    package var expires: Date?
    package var authority: Authority?
    package var addresses: [Address] = []
}

extension CertificateReport {
    /// - Parameter hosts: beside those that the certificate names.
    package init(
        of daemon: DaemonStatus, in directory: DataDirectory, hosts: [CertificateHost], now: Date
    ) async throws(ServerError) {
        try await self.init(of: daemon, in: directory, hosts: hosts, now: now, roots: .systemTrustRoots)
    }

    /// - Parameter roots: the authorities that this machine trusts.
    init(
        of daemon: DaemonStatus, in directory: DataDirectory, hosts: [CertificateHost], now: Date,
        roots: CertificateStore
    ) async throws(ServerError) {
        guard let path = daemon.certificate else {
            addresses = hosts.map { host in
                let address = ListenAddress(host: host.description, port: daemon.port)
                return Address(url: address.url(), isNamed: false, trust: address.isLoopback ? .loopback : .nobody)
            }
            return
        }
        let chain = try CertificateFiles.chain(LocalFile(path))
        let certificates = chain.compactMap { certificate in
            // The count below shows one that cannot be read.
            (try? certificate.toDERBytes()).flatMap { try? Certificate(derEncoded: $0) }
        }
        guard let leaf = certificates.first, certificates.count == chain.count else {
            throw ServerError(.unreadable, "cannot read \(path): not a certificate of X.509")
        }
        file = path
        issuer = leaf.issuer.description
        expires = leaf.notValidAfter
        let trust: Trust
        if !directory.isOwnCertificate(path) {
            source = .files
            trust = await Self.isTrusted(certificates, roots) ? .system : .nobody
        } else if let issuer = CertificateAuthority(issuing: chain) {
            source = .authority
            authority = Authority(issuer)
            trust = .installed
        } else {
            source = .selfSigned
            trust = .nobody
        }
        let isValid = certificates.allSatisfy {
            $0.notValidBefore <= now && now <= $0.notValidAfter
        }
        // A certificate without readable names names nothing.
        let alternatives = try? leaf.extensions.subjectAlternativeNames
        let names = alternatives.map { Array($0) } ?? []
        let named = source == .selfSigned ? [] : names.compactMap { CertificateHost($0) }
        addresses = (hosts + named.filter { !hosts.contains($0) }).map { host in
            let isNamed = names.contains { host.isNamed(by: $0) }
            return Address(
                url: ListenAddress(host: host.description, port: daemon.port).url(isEncrypted: true),
                isNamed: isNamed, trust: isNamed && isValid ? trust : .nobody)
        }
    }

    private static func isTrusted(_ chain: [Certificate], _ roots: CertificateStore) async -> Bool {
        var verifier = Verifier(rootCertificates: roots) { RFC5280Policy() }
        let result = await verifier.validate(leaf: chain[0], intermediates: CertificateStore(chain.dropFirst()))
        if case .validCertificate = result { return true }
        return false
    }
}

/// What `kvsd certificate authority` does.
extension DataDirectory {
    /// The authority of the server; nil if there is none.
    package func certificateAuthority() throws(ServerError) -> CertificateAuthority? {
        try OwnCertificate(directory: path).readAuthority()?.certificate
    }

    /// Whether this is the file of the certificate that a server generates for itself.
    package func isOwnCertificate(_ file: String) -> Bool {
        OwnCertificate(directory: path).files.certificate.path == file
    }

    /// Creates an authority for the hosts. A running server presents its certificate with the next connection.
    ///
    /// - Returns: nil if there is an authority and it is not to be replaced.
    package func createAuthority(
        for hosts: [CertificateHost], replacing: Bool
    ) throws(ServerError) -> CertificateAuthority? {
        try OwnCertificate(directory: path).createAuthority(for: hosts, replacing: replacing, now: Date())
    }

    /// Removes the authority with its key; a running server presents a self-signed certificate with the next
    /// connection.
    package func removeAuthority() throws(ServerError) {
        try OwnCertificate(directory: path).removeAuthority(now: Date())
    }
}
