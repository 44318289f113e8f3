import Crypto
import Essentials
import KVStoreWire
import OutgoingHTTP

/// The key with which an application server identifies itself to push services (RFC 8292). Browsers bind their
/// subscriptions to it.
struct VAPIDKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// Seconds for which an identification is valid; at most a day is allowed.
    private static let validity = 43_200.0

    /// A new key.
    init() { key = P256.Signing.PrivateKey() }

    /// Nil unless it is a private key on P-256.
    init?(pem: String) {
        // What is no key is nil, as stated.
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else { return nil }
        self.key = key
    }

    var pem: String { key.pemRepresentation }

    /// The `applicationServerKey` of the Push API: the uncompressed point in base64url.
    var publicText: String { key.publicKey.x963Representation.base64URL }

    private struct Header: Encodable {
        var typ = "JWT"
        var alg = "ES256"
    }

    private struct Claims: Encodable {
        var aud: String
        var exp: Int
        var sub: String
    }

    /// The value of the field `Authorization` of a request to a push service.
    ///
    /// - Parameter contact: a `mailto:` or `https:` URL of who runs the server.
    func authorization(for endpoint: HTTPAddress, contact: String, now: Date) throws -> String {
        let end = (now.timeIntervalSince1970 + Self.validity).rounded(.down)
        let claims = Claims(aud: endpoint.origin, exp: Int(exactly: end) ?? 0, sub: contact)
        let text = WireJSON.encode(Header()).base64URL + "." + WireJSON.encode(claims).base64URL
        let signature = try key.signature(for: Data(text.utf8)).rawRepresentation
        return "vapid t=\(text).\(signature.base64URL), k=\(publicText)"
    }
}
