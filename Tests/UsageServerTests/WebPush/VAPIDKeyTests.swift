import Crypto
import Foundation
import KVStoreWire
import OutgoingHTTP
import Testing

@testable import UsageServer

@Suite("Identification of the application server")
struct VAPIDKeyTests {
    /// RFC 8292, section 2.4, with the claims of its figure 2.
    private static let example =
        "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"

    private struct Claims: Decodable, Equatable {
        var aud: String
        var exp: Int
        var sub: String
    }

    /// What a push service checks: the signature by the stated key.
    private func claims(_ authorization: String) throws -> (claims: Claims, key: String) {
        let match = try #require(authorization.wholeMatch(of: /vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)/))
        let header = try #require(Data(base64URL: match.1))
        let fields = try JSONDecoder().decode([String: String].self, from: header)
        #expect(fields == ["typ": "JWT", "alg": "ES256"])
        let key = try P256.Signing.PublicKey(x963Representation: #require(Data(base64URL: match.4)))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: #require(Data(base64URL: match.3)))
        #expect(key.isValidSignature(signature, for: Data("\(match.1).\(match.2)".utf8)))
        let claims = try JSONDecoder().decode(Claims.self, from: #require(Data(base64URL: match.2)))
        return (claims, String(match.4))
    }

    @Test("the example of RFC 8292 passes the check of these tests")
    func example() throws {
        let found = try claims(Self.example).claims
        #expect(found == Claims(aud: "https://push.example.net", exp: 1_453_523_768, sub: "mailto:push@example.com"))
    }

    @Test(
        "a token names the origin of the push service, ends within a day and is signed",
        arguments: [
            ("https://push.example.test/a/b?c", "https://push.example.test"),
            ("https://Push.example.test:443/a", "https://push.example.test"),
            ("https://push.example.test:8443/a", "https://push.example.test:8443"),
            ("http://[::1]:9000/a", "http://[::1]:9000"),
        ])
    func token(url: String, origin: String) throws {
        let key = VAPIDKey()
        let now = Date(timeIntervalSince1970: 1_789_732_800.5)
        let text = try key.authorization(for: #require(HTTPAddress(url)), contact: "mailto:dev@example.test", now: now)
        let found = try claims(text)
        #expect(found.claims.aud == origin && found.claims.sub == "mailto:dev@example.test")
        #expect((1_789_732_800...1_789_819_200).contains(found.claims.exp))
        #expect(found.key == key.publicText && key.publicText.count == 87)
    }

    @Test("a key survives as PEM, and anything else is no key")
    func pem() throws {
        let key = VAPIDKey()
        #expect(VAPIDKey(pem: key.pem)?.publicText == key.publicText)
        for text in ["", "secret", P384.Signing.PrivateKey().pemRepresentation] { #expect(VAPIDKey(pem: text) == nil) }
    }
}
