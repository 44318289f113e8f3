import Crypto
import Foundation
import KVStore

/// 256 random bits that stand for one device. Shown once, stored only as a digest.
struct DeviceToken: Sendable {
    let text: String

    private static let prefix = "ubq_"

    init(using random: inout some RandomNumberGenerator) {
        var bytes: [UInt8] = []
        for _ in 0..<4 { bytes.append(littleEndian: random.next() as UInt64) }
        text =
            Self.prefix
            + Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// What a request presents; nil unless it could be a token.
    init?(presented text: some StringProtocol) {
        guard text.utf8.count <= 128, text.hasPrefix(Self.prefix) else { return nil }
        self.text = String(text)
    }

    var digest: TokenDigest { TokenDigest(of: text) }
}

/// The SHA-256 of a token. Equality takes the same time wherever two digests differ.
struct TokenDigest: Sendable {
    private let bytes: [UInt8]

    init(of token: String) { bytes = Array(SHA256.hash(data: Data(token.utf8))) }

    /// Reads sixty-four lower-case hexadecimal digits.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = Self.digit(digits[index]), let low = Self.digit(digits[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    var hexadecimal: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension TokenDigest: Equatable {
    static func == (left: TokenDigest, right: TokenDigest) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        var difference: UInt8 = 0
        for index in left.bytes.indices { difference |= left.bytes[index] ^ right.bytes[index] }
        return difference == 0
    }
}
