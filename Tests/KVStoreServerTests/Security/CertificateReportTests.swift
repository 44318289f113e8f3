import Crypto
import Foundation
import HTTPTypes
import KVStoreWire
import LocalFiles
import NIOCore
import NIOSSL
import SwiftASN1
import ServerTestSupport
import StoreTestSupport
import Testing
import X509

@testable import KVStoreServer

@Suite("Certificate report", .timeLimit(.minutes(5)))
struct CertificateReportTests {
    private let directory = try! TemporaryDirectory()

    @Test(
        "a host is read as certificates name it",
        arguments: [
            ("Box.Local", "box.local"), ("box.local.", "box.local"), ("nas", "nas"),
            ("xn--mnchen-3ya.test", "xn--mnchen-3ya.test"), ("192.0.2.7", "192.0.2.7"),
            ("[2001:DB8::7]", "2001:db8::7"), ("2001:db8:0:0:0:0:0:7", "2001:db8::7"),
        ])
    func hosts(text: String, host: String) throws {
        let read = try CertificateHost(text)
        #expect(read.description == host)
        #expect(CertificateHost(read.generalName) == read)
    }

    @Test(
        "names under which anybody has hosts are told from those of one host",
        arguments: [
            ("com", true), ("co.uk", true), ("github.io", true), ("de", true), ("local", true),
            ("home.arpa", true), ("com.au", true), ("box.local", false), ("nas", false),
            ("pi", false),
            ("box.co.uk", false), ("me.github.io", false), ("example.org", false),
            ("co.example", false), ("192.0.2.7", false),
        ])
    func sharedNames(text: String, isShared: Bool) throws {
        #expect(try CertificateHost(text).isShared == isShared)
    }

    @Test("a wildcard is for one label, and an address is none")
    func wildcard() throws {
        let pattern = GeneralName.dnsName("*.Example.test")
        #expect(try CertificateHost("a.example.test").isNamed(by: pattern))
        for host in ["example.test", "a.b.example.test", "a.other.test", "192.0.2.7", "test"] {
            #expect(try !CertificateHost(host).isNamed(by: pattern))
        }
    }

    @Test("files of the operator are trusted if this machine trusts their issuer, and while they are valid")
    func files() async throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("issuer") }
        let issuer = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey), notValidBefore: Date() - 60,
            notValidAfter: Date() + 1_000 * 86_400, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(NameConstraints(permittedDNSDomains: ["box.test"]))
            },
            issuerPrivateKey: Certificate.PrivateKey(key))
        let der = try PEMDocument(pemString: issuer.serializeAsPEM().pemString).derBytes
        let leaf = try #require(CertificateAuthority(der: der))
            .issue(for: P256.Signing.PrivateKey().publicKey, signedBy: key, now: Date())
        func trust(_ roots: [Certificate], after days: Double = 0) async throws -> [CertificateReport.Trust] {
            let report = try await report(
                of: [leaf], for: ["box.test", "192.0.2.7"], at: Date() + days * 86_400, roots: roots)
            #expect(report.source == .files)
            #expect(report.addresses.map(\.isNamed) == [true, false])
            return report.addresses.map(\.trust)
        }
        #expect(try await trust([]) == [.nobody, .nobody])
        #expect(try await trust([issuer]) == [.system, .nobody])
        #expect(try await trust([issuer], after: 400) == [.nobody, .nobody])
    }

    @Test("a certificate that ends before it begins is trusted by nobody")
    func reversed() async throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("box.test") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey), notValidBefore: Date() + 60,
            notValidAfter: Date() - 60, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                SubjectAlternativeNames([.dnsName("box.test")])
            },
            issuerPrivateKey: Certificate.PrivateKey(key))
        let report = try await report(of: [certificate], for: ["box.test"], roots: [certificate])
        #expect(report.addresses.map(\.isNamed) == [true])
        #expect(report.addresses.map(\.trust) == [.nobody])
    }

    private func report(
        of chain: [Certificate], for hosts: [String], at now: Date = Date(), roots: [Certificate]
    ) async throws -> CertificateReport {
        let path = directory.path + "/chain.pem"
        try chain.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
        var random = SystemRandomNumberGenerator()
        let daemon = DaemonStatus(
            processID: 1, host: "0.0.0.0", port: 443, socket: nil, certificate: path, key: nil,
            code: PairingCode(using: &random))
        return try await CertificateReport(
            of: daemon, in: DataDirectory(directory.path),
            hosts: try hosts.map { host throws in try CertificateHost(host) }, now: now, roots: CertificateStore(roots))
    }

    @Test("devices get the authority without a token, as a certificate and as a profile that is always the same")
    func resources() async throws {
        let test = try TestServer(encryption: .ownCertificate)
        try await test.served { _, port in
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            let client = TestClient(port: port, tls: try NIOSSLContext(configuration: tls))
            func get(_ name: String) async throws -> TestResponse {
                try await client.execute(uri: "/certificate/authority.\(name)", method: .get)
            }
            #expect(try await get("crt").problemCode == "no-authority")
            #expect(try await get("mobileconfig").status == .notFound)
            let own = OwnCertificate(directory: test.directory.path)
            let created = try #require(
                try own.createAuthority(for: [try CertificateHost("box.test")], replacing: false, now: Date()))
            let certificate = try await get("crt")
            #expect(certificate.headers[.contentType] == "application/x-x509-ca-cert")
            #expect(Array(certificate.body.readableBytesView) == created.der)

            let profile = try await get("mobileconfig")
            #expect(profile.headers[.contentType] == "application/x-apple-aspen-config")
            #expect(try await get("mobileconfig").body == profile.body)
            let plist = try PropertyListSerialization.propertyList(
                from: Data(profile.body.readableBytesView), format: nil)
            let outer = try #require(plist as? [String: Any])
            let inner = try #require((outer["PayloadContent"] as? [[String: Any]])?.first)
            #expect(outer["PayloadType"] as? String == "Configuration")
            #expect(inner["PayloadType"] as? String == "com.apple.security.root")
            #expect(inner["PayloadContent"] as? Data == Data(created.der))
            let identities = [outer, inner].map { $0["PayloadUUID"] as? String ?? "" }
            #expect(Set(identities.compactMap { UUID(uuidString: $0) }).count == 2)
            await client.close()
        }
    }
}
