import Crypto
import Foundation
import KVStoreWire
import OutgoingHTTP
import ServerTestSupport
import Testing

@testable import UsageServer

@Suite("Encryption of messages")
struct MessageEncryptionTests {
    /// RFC 8291, section 5 and appendix A.
    private enum Example {
        static let text = "When I grow up, I want to be a watermelon"
        static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
        static let senderKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let receiverKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let contentKey = "oIhVW04MRdy2XN9CiKLxTg"
        static let nonce = "4h_95klXJ5E_qnoN"
        static let body =
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    }

    private func data(_ text: String) throws -> Data { try #require(Data(base64URL: text)) }

    @Test("the example of RFC 8291 is encrypted byte for byte")
    func example() throws {
        let endpoint = try #require(HTTPAddress("https://push.example.net/push/1"))
        let subscription = try #require(
            PushSubscription(endpoint: endpoint, publicKey: data(Example.receiver), secret: data(Example.secret))
        )
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: data(Example.senderKey))
        let body = try MessageEncryption.encrypt(
            Data(Example.text.utf8), for: subscription, key: key, salt: data(Example.salt))
        #expect(body.base64URL == Example.body)
        let keys = MessageEncryption.keys(
            from: try key.sharedSecretFromKeyAgreement(
                with: P256.KeyAgreement.PublicKey(x963Representation: data(Example.receiver))),
            secret: try data(Example.secret), recipient: try data(Example.receiver),
            sender: key.publicKey.x963Representation, salt: try data(Example.salt))
        #expect(keys.content.withUnsafeBytes { Data($0).base64URL } == Example.contentKey)
        #expect(keys.nonce.base64URL == Example.nonce)
    }

    @Test("a browser decrypts what was encrypted for it, and no other one does")
    func roundTrips() throws {
        let browser = TestBrowser(endpoint: "https://push.example.test/1")
        let subscription = try JSONDecoder().decode(PushSubscription.self, from: Data(browser.json.utf8))
        for count in [0, 1, 15, 16, 17, 1_000, PushMessage.byteLimit] {
            let text = Data(repeating: 0x61, count: count)
            let body = try MessageEncryption.encrypt(text, for: subscription)
            #expect(body.count == count + 103)
            #expect(try browser.decrypt(body) == text)
            #expect(throws: (any Error).self) { try TestBrowser(endpoint: browser.endpoint).decrypt(body) }
        }
        let bodies = try (0..<2).map { _ in try MessageEncryption.encrypt(Data("same".utf8), for: subscription) }
        // Neither salt nor key is used twice.
        #expect(bodies[0].prefix(16) != bodies[1].prefix(16))
        #expect(bodies[0][21..<86] != bodies[1][21..<86])
    }
}
