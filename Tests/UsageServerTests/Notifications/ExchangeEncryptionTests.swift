import Foundation
import NIOSSL
import StoreTestSupport
import Testing

@testable import KVStoreServer
@testable import OutgoingHTTP

/// Requests over TLS, to the server of this package as one that answers.
@Suite("Requests over TLS", .timeLimit(.minutes(1)))
struct ExchangeEncryptionTests {
    @Test("a request goes only to a server with a trusted certificate for the host")
    func certificates() async throws {
        let directory = try TemporaryDirectory()
        let server = try StoreServer(
            ServerConfiguration(storage: .directory(directory.path), encryption: .ownCertificate))
        async let running: Void = server.run()
        let port = try await server.port
        let certificates = try NIOSSLCertificate.fromPEMFile(directory.file("tls-certificate.pem"))
        let own = HTTPExchange.Trust(.certificates(certificates))
        func reason(_ host: String, _ trust: HTTPExchange.Trust) async throws -> String {
            var http = HTTPDelivery(privateHosts: ["\(host):\(port)"], permission: "allow ")
            http.backOff = []
            http.send = HTTPExchange(trust: trust).send
            http.addresses = { _ in NetworkAddress.all(ofHost: "127.0.0.1") }
            let address = try #require(HTTPAddress("https://\(host):\(port)/nowhere"))
            do throws(DeliveryError) {
                try await http.deliver(HTTPPost(address: address, headers: [], body: Data()))
                return ""
            } catch {
                return error.reason
            }
        }
        #expect(try await reason("kvsd", own) == "kvsd answers 404")
        let refused = "TLS failed; is its certificate one that this machine trusts?"
        #expect(try await reason("kvsd", .system) == "kvsd: " + refused)
        #expect(try await reason("push.example.test", own) == "push.example.test: " + refused)
        await server.stop()
        try await running
    }
}
