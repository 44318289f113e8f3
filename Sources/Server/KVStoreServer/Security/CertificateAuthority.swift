import Crypto
package import Essentials
import NIOSSL
import SwiftASN1
import X509

/// The certificate of an authority that may issue only for the hosts of one server (RFC 5280, section 4.2.1.10).
package struct CertificateAuthority: Sendable {
    let certificate: Certificate
    let der: [UInt8]
    /// Names, then addresses; never empty.
    package let hosts: [CertificateHost]

    static let hostCount = 32
    static let validity: TimeInterval = 3_652 * 86_400
    /// Permitted where nothing is to be: a name that cannot exist (RFC 6761, section 6.4).
    private static let noName = "kvsd.invalid"

    /// Nil for a certificate that is not one that the other initializer creates.
    init?(der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der),  // nil says that it is no authority
            let constraints = try? certificate.extensions.nameConstraints  // nil says that it is no authority
        else { return nil }
        let names = constraints.permittedDNSDomains.filter { $0 != Self.noName }
        let addresses = constraints.permittedIPRanges.map { range in
            GeneralName.ipAddress(ASN1OctetString(contentBytes: range.bytes.prefix(range.bytes.count / 2)))
        }
        hosts = (names.map { .dnsName($0) } + addresses).compactMap { CertificateHost($0) }
        guard !hosts.isEmpty else { return nil }
        self.certificate = certificate
        self.der = der
    }

    /// The issuer in the chain of a server's own certificate; nil for a self-signed one.
    init?(issuing chain: [NIOSSLCertificate]) {
        // Nil says that it is no authority.
        guard chain.count > 1, let der = try? chain[1].toDERBytes() else { return nil }
        self.init(der: der)
    }

    /// - Parameter hosts: not empty.
    init(hosts: [CertificateHost], key: P256.Signing.PrivateKey, now: Date) throws {
        let hosts = hosts.filter { !$0.isAddress } + hosts.filter(\.isAddress)
        let publicKey = Certificate.PublicKey(key.publicKey)
        let name = try DistinguishedName { CommonName(Self.name(hosts, publicKey)) }
        certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: now - OwnCertificate.leeway, notValidAfter: now + Self.validity,
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(Self.constraints(hosts))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: publicKey)
            },
            issuerPrivateKey: Certificate.PrivateKey(key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        der = serializer.serializedBytes
        self.hosts = hosts
    }

    /// A kind of name that is not mentioned would not be limited at all.
    private static func constraints(_ hosts: [CertificateHost]) -> NameConstraints {
        var names: [String] = []
        var ranges: [ASN1OctetString] = []
        for host in hosts {
            switch host {
            case .name(let name): names.append(name)
            case .address(let bytes):
                let mask = [UInt8](repeating: 0xFF, count: bytes.count)
                ranges.append(ASN1OctetString(contentBytes: (bytes + mask)[...]))
            }
        }
        let everything = [8, 32].map { count in
            ASN1OctetString(contentBytes: [UInt8](repeating: 0, count: count)[...])
        }
        return NameConstraints(
            permittedDNSDomains: names.isEmpty ? [noName] : names, permittedIPRanges: ranges,
            excludedIPRanges: ranges.isEmpty ? everything : [], permittedEmailAddresses: [noName])
    }

    /// Issues a certificate for the key of the server.
    func issue(
        for key: P256.Signing.PublicKey, signedBy authorityKey: P256.Signing.PrivateKey, now: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key)
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: now - OwnCertificate.leeway,
            notValidAfter: now + OwnCertificate.validity,
            // No verifier takes the subject for a host name.
            issuer: certificate.subject, subject: try DistinguishedName { CommonName("kvsd") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(hosts.map(\.generalName))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: certificate.publicKey).keyIdentifier)
            },
            issuerPrivateKey: Certificate.PrivateKey(authorityKey))
    }

    /// What devices call it: ASCII letters, digits, spaces, dots, colons and hyphens.
    package var name: String { Self.name(hosts, certificate.publicKey) }

    /// At most 64 characters (RFC 5280, appendix A.1), and another name for each key.
    private static func name(_ hosts: [CertificateHost], _ key: Certificate.PublicKey) -> String {
        let digest = SHA256.hash(data: key.subjectPublicKeyInfoBytes).prefix(4)
        let mark = digest.map { $0.hexadecimal(digits: 2) }.joined()
        return "kvsd \(hosts[0].description.prefix(48)) \(mark)"
    }

    package var expires: Date { certificate.notValidAfter }

    /// The SHA-256 of the certificate as devices show it: upper-case hexadecimal bytes with colons.
    package var fingerprint: String {
        SHA256.hash(data: der).map { $0.hexadecimal(digits: 2).uppercased() }.joined(separator: ":")
    }
}
