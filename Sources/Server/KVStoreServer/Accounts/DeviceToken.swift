import Crypto
package import Essentials
import KVStoreWire

/// Random bits that authenticate one device. Stored as a digest.
struct DeviceToken: Sendable {
    /// A page's token is in two places, see `PageSession`, and is never a bearer's.
    enum Kind: CaseIterable {
        case bearer, page

        /// With the space after it.
        var scheme: String { self == .bearer ? "Bearer " : "Page " }

        fileprivate var prefix: String {
            self == .bearer ? DaemonIdentity.tokenPrefix : "ubqp_"
        }
        fileprivate var byteCount: Int { self == .bearer ? 32 : 64 }
    }

    let kind: Kind
    let text: String

    init(_ kind: Kind = .bearer, using random: inout some RandomNumberGenerator) {
        let bytes = (0..<kind.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random)
        }
        self.kind = kind
        text = kind.prefix + Data(bytes).base64URL
    }

    /// The token of an `Authorization` header; nil unless it could be one.
    init?(authorization: String) {
        guard authorization.utf8.count <= 128, let kind = Self.kind(ofAuthorization: authorization) else { return nil }
        let text = authorization.dropFirst(kind.scheme.count)
        guard text.hasPrefix(kind.prefix) else { return nil }
        self.kind = kind
        self.text = String(text)
    }

    /// What a header states to have, right or wrong; nil for one that guesses at no token.
    static func kind(ofAuthorization text: String) -> Kind? {
        Kind.allCases.first { text.prefix($0.scheme.count).lowercased() == $0.scheme.lowercased() }
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
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a SHA-256"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
