// The other ends of Web Push for tests: a browser that decrypts, and a push service in the test's process. Not here:
// tests.

import Crypto
package import Foundation
import KVStoreWire
@testable import UsageServer

/// A browser with a subscription.
package struct TestBrowser: Sendable {
    package let endpoint: String
    private let key = P256.KeyAgreement.PrivateKey()
    private let secret = MessageEncryption.salt()

    package init(endpoint: String) { self.endpoint = endpoint }

    package var publicKey: Data { key.publicKey.x963Representation }

    /// What the page gets of the browser.
    package var json: String {
        """
        {"endpoint":"\(endpoint)","expirationTime":null,
        "keys":{"p256dh":"\(publicKey.base64URL)","auth":"\(secret.base64URL)"}}
        """
    }

    /// What nobody else may see.
    package var secrets: [String] { [endpoint, publicKey.base64URL, secret.base64URL] }

    package struct Undecryptable: Error {}

    /// The text of a body with the coding `aes128gcm` in one record.
    package func decrypt(_ body: Data) throws -> Data {
        let body = Data(body)
        guard body.count >= 86 + 17, body[16..<20] == Data([0, 0, 16, 0]), body[20] == 65 else { throw Undecryptable() }
        let (salt, sender, record) = (Data(body[..<16]), Data(body[21..<86]), Data(body[86...]))
        let shared = try key.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(x963Representation: sender))
        let keys = MessageEncryption.keys(
            from: shared, secret: secret, recipient: publicKey, sender: sender, salt: salt)
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: keys.nonce), ciphertext: record.dropLast(16), tag: record.suffix(16))
        let padded = try AES.GCM.open(box, using: keys.content)
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 2 else { throw Undecryptable() }
        return Data(padded[..<end])
    }
}
