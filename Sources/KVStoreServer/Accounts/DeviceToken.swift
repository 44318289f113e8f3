import Crypto
package import Essentials
import KVStoreWire

/// 256 random bits that authenticate one device. Shown once, stored as a digest.
struct DeviceToken: Sendable {
    let text: String

    private static let prefix = DaemonIdentity.tokenPrefix

    init(using random: inout some RandomNumberGenerator) {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        text = Self.prefix + Data(bytes).base64URL
    }

    /// The token of an `Authorization` header; nil unless it could be one.
    init?(authorization: String) {
        guard authorization.utf8.count <= 128, authorization.prefix(7).lowercased() == "bearer ",
            authorization.dropFirst(7).hasPrefix(Self.prefix)
        else { return nil }
        text = String(authorization.dropFirst(7))
    }

    var digest: TokenDigest { TokenDigest(of: text) }
}

/// The SHA-256 of a token or a code.
package struct TokenDigest: Sendable, Hashable {
    package let bytes: Data

    /// Precondition: they are a SHA-256.
    package init(bytes: Data) {
        precondition(bytes.count == SHA256.byteCount, "not a SHA-256")
        self.bytes = bytes
    }

    package init(of token: String) { bytes = Data(SHA256.hash(data: Data(token.utf8))) }

    /// Whether this is the digest of the text, compared in constant time.
    func matches(_ text: String) -> Bool { SHA256.hash(data: Data(text.utf8)) == bytes }
}

extension TokenDigest: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Earlier versions wrote an array of numbers.
        bytes = try (try? container.decode(Data.self)) ?? Data(container.decode([UInt8].self))
        guard bytes.count == SHA256.byteCount else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a SHA-256"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
