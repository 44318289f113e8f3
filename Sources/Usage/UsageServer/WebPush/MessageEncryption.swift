import Crypto
import Essentials

/// The encryption of a message for one subscription (RFC 8291), with the coding `aes128gcm` (RFC 8188) in one record.
enum MessageEncryption {
    /// As the header of the body states it; the message with its padding and tag is shorter.
    private static let recordSize: UInt32 = 4_096

    /// - Parameters:
    ///   - key: used for this message alone.
    ///   - salt: 16 bytes, used for this message alone.
    /// - Returns: the body of the request.
    static func encrypt(
        _ text: Data, for subscription: PushSubscription,
        key: P256.KeyAgreement.PrivateKey = .init(), salt: Data = Self.salt()
    ) throws -> Data {
        let recipient = try P256.KeyAgreement.PublicKey(x963Representation: subscription.publicKey)
        let sender = key.publicKey.x963Representation
        let keys = keys(
            from: try key.sharedSecretFromKeyAgreement(with: recipient), secret: subscription.secret,
            recipient: subscription.publicKey, sender: sender, salt: salt)
        // The delimiter of the last record, without padding.
        let sealed = try AES.GCM.seal(text + [2], using: keys.content, nonce: AES.GCM.Nonce(data: keys.nonce))
        let size = withUnsafeBytes(of: recordSize.bigEndian) { Data($0) }
        return salt + size + [UInt8(sender.count)] + sender + sealed.ciphertext + sealed.tag
    }

    /// The keys of a message (RFC 8291, section 3.4), the same for who sends and who receives.
    static func keys(
        from shared: SharedSecret, secret: Data, recipient: Data, sender: Data, salt: Data
    ) -> (content: SymmetricKey, nonce: Data) {
        let input = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: secret,
            sharedInfo: Data("WebPush: info\0".utf8) + recipient + sender, outputByteCount: 32)
        func derive(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: input, salt: salt, info: Data(info.utf8), outputByteCount: count)
        }
        let nonce = derive("Content-Encoding: nonce\0", 12).withUnsafeBytes { Data($0) }
        return (derive("Content-Encoding: aes128gcm\0", 16), nonce)
    }

    static func salt() -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
    }
}
