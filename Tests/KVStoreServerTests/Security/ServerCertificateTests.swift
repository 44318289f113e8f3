import Foundation
import LocalFiles
import Logging
import NIOSSL
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Certificates")
struct ServerCertificateTests {
    private let directory = try! TemporaryDirectory()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private let start = Date(timeIntervalSince1970: 1_789_732_800)

    private func certificate(now: @escaping @Sendable () -> Date) throws -> ServerCertificate {
        try #require(try ServerCertificate(.ownCertificate, directory: directory.path, logger: logger, now: now))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: directory.path + "/" + name, encoding: .utf8)
    }

    @Test("the certificate is renewed before it expires, with the same key, while the server runs")
    func renewal() throws {
        let now = Mutex(start)
        let certificate = try self.certificate { now.withLock { $0 } }
        let former = try (text("tls-certificate.pem"), text("tls-key.pem"))
        let key = certificate.keyFingerprint
        let context = certificate.context()
        now.withLock { $0 = start + 366 * 86_400 }
        #expect(certificate.context() === context)
        certificate.renewals.sync {}
        #expect(try text("tls-certificate.pem") == former.0)

        now.withLock { $0 = start + 368 * 86_400 }
        _ = certificate.context()
        certificate.renewals.sync {}
        #expect(try text("tls-certificate.pem") != former.0)
        #expect(try text("tls-key.pem") == former.1)
        #expect(certificate.context() !== context)
        #expect(certificate.keyFingerprint == key)
    }

    @Test("a renewal that failed is tried again, without a restart, but not by each connection")
    func failedRenewal() throws {
        let now = Mutex(start)
        let certificate = try self.certificate { now.withLock { $0 } }
        let former = try text("tls-certificate.pem")
        func connect(after seconds: Double) throws -> Bool {
            now.withLock { $0 = start + 368 * 86_400 + seconds }
            _ = certificate.context()
            certificate.renewals.sync {}
            return try text("tls-certificate.pem") != former
        }
        let authority = OwnCertificate(directory: directory.path).authorityFile
        try authority.replace(with: Data("damaged".utf8))
        #expect(try !connect(after: 0))
        try authority.remove()
        #expect(try !connect(after: 60))
        #expect(try connect(after: 3_600))
    }

    @Test("the certificate of an authority is renewed with the same key, and is self-signed without it")
    func authority() throws {
        let now = Mutex(start)
        let own = OwnCertificate(directory: directory.path)
        let certificate = try self.certificate { now.withLock { $0 } }
        let key = certificate.keyFingerprint
        #expect(certificate.authority == nil)
        let hosts = try ["192.0.2.7", "box.test"].map { host throws in try CertificateHost(host) }
        let created = try #require(try own.createAuthority(for: hosts, replacing: false, now: start))
        #expect(certificate.authority?.der == created.der)
        #expect(created.hosts.map(\.description) == ["box.test", "192.0.2.7"])
        let former = try (text("tls-certificate.pem"), text("tls-authority.pem"))

        now.withLock { $0 = start + 368 * 86_400 }
        _ = certificate.context()
        certificate.renewals.sync {}
        #expect(try text("tls-certificate.pem") != former.0)
        #expect(try text("tls-authority.pem") == former.1)
        #expect(certificate.authority?.der == created.der)
        let chain = try own.files.load().chain
        #expect(chain.count == 2)
        #expect(chain[0].notValidAfter == 1_789_732_800 + (368 + 397) * 86_400)

        // A start changes nothing, unless a restore has brought back a certificate of another authority.
        let current = try text("tls-certificate.pem")
        try own.prepare(now: start + 368 * 86_400)
        #expect(try text("tls-certificate.pem") == current)
        _ = try own.createAuthority(for: hosts, replacing: true, now: start)
        try own.files.certificate.replace(with: Data(current.utf8))
        try own.prepare(now: start)
        #expect(
            try own.files.load().chain[1]
                == NIOSSLCertificate(bytes: own.readAuthority()?.certificate.der ?? [], format: .der))

        try own.removeAuthority(now: start)
        #expect(certificate.authority == nil)
        #expect(try own.files.load().chain.count == 1)
        #expect(certificate.keyFingerprint == key)
    }

    @Test("a certificate of a clock that was ahead is replaced at the next start")
    func future() throws {
        let own = OwnCertificate(directory: directory.path)
        let now = Date(timeIntervalSince1970: 1_789_732_800)
        try own.prepare(now: now + 1_000 * 86_400)
        let former = try text("tls-certificate.pem")
        try own.prepare(now: now)
        #expect(try text("tls-certificate.pem") != former)
        let certificate = try own.files.load().chain[0]
        #expect(certificate.notValidBefore == 1_789_732_800 - 86_400)
        #expect(certificate.notValidAfter == 1_789_732_800 + 397 * 86_400)
    }

    @Test("a key that other users may read, or that is damaged, is refused without being shown")
    func refusedKey() throws {
        let own = OwnCertificate(directory: directory.path)
        try own.prepare(now: Date())
        let path = directory.path + "/tls-key.pem"
        chmod(path, 0o644)
        let open = #expect(throws: ServerError.self) { try own.prepare(now: Date()) }
        #expect(open?.hint?.contains("chmod 600") == true)
        chmod(path, 0o600)
        let key = try text("tls-key.pem")
        try key.replacing("BEGIN", with: "BEGUN").write(toFile: path, atomically: false, encoding: .utf8)
        let damaged = #expect(throws: ServerError.self) { try own.prepare(now: Date()) }
        let secret = key.split(separator: "\n")[1]
        #expect(damaged?.description.contains(secret) == false)
        #expect(damaged?.message.contains(path) == true)
    }
}
