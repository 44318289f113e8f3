import Crypto
import Essentials
import KVStoreWire
import OutgoingHTTP

/// Where a browser wants its messages, and the keys that only it can decrypt them with.
///
/// Everything in it is secret: whoever knows it can send.
struct PushSubscription: Sendable, Equatable {
    /// An address of the browser's push service.
    let endpoint: HTTPAddress
    /// A point on P-256, uncompressed.
    let publicKey: Data
    /// 16 bytes.
    let secret: Data

    /// Nil unless the key is on the curve and the secret has 16 bytes.
    init?(endpoint: HTTPAddress, publicKey: Data, secret: Data) {
        // What is no key is nil, as stated.
        guard (try? P256.KeyAgreement.PublicKey(x963Representation: publicKey)) != nil,
            publicKey.count == 65, secret.count == 16
        else { return nil }
        self.endpoint = endpoint
        self.publicKey = publicKey
        self.secret = secret
    }
}

/// As `PushSubscription.toJSON()` of the Push API gives it, without the time of expiration.
extension PushSubscription: Codable {
    private enum CodingKeys: CodingKey { case endpoint, keys }
    private enum KeyNames: CodingKey { case p256dh, auth }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard let address = HTTPAddress(try fields.decode(String.self, forKey: .endpoint)) else {
            throw DecodingError.dataCorruptedError(forKey: .endpoint, in: fields, debugDescription: "not an HTTP URL")
        }
        let keys = try fields.nestedContainer(keyedBy: KeyNames.self, forKey: .keys)
        guard
            let subscription = PushSubscription(
                endpoint: address, publicKey: Data(base64URL: try keys.decode(String.self, forKey: .p256dh)) ?? Data(),
                secret: Data(base64URL: try keys.decode(String.self, forKey: .auth)) ?? Data())
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .keys, in: fields, debugDescription: "invalid subscription keys")
        }
        self = subscription
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(endpoint.url, forKey: .endpoint)
        var keys = fields.nestedContainer(keyedBy: KeyNames.self, forKey: .keys)
        try keys.encode(publicKey.base64URL, forKey: .p256dh)
        try keys.encode(secret.base64URL, forKey: .auth)
    }
}
