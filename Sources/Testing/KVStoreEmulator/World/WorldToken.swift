import Crypto
import Essentials
import KVStoreServer

/// A world of an emulator and a device in it, which any bearer token names: `WORLD` or `WORLD/DEVICE`.
struct WorldToken: Sendable, Equatable {
    /// A valid name of an account.
    let world: String
    /// A valid name of an account too, so that it is one of a device.
    let device: String

    static let byteLimit = 1_024
    static let defaultDevice = "device"

    /// Nil unless the text has the form of a bearer token (RFC 6750, section 2.1), and both names if it has a slash.
    init?(_ text: some StringProtocol) {
        let bytes = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        guard (1...Self.byteLimit).contains(text.utf8.count), !bytes.isEmpty,
            bytes.allSatisfy(Self.isToken68)
        else { return nil }
        let names = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty }) else { return nil }
        world = Self.safeName(names[0])
        device = names.count > 1 ? Self.safeName(names[1]) : Self.defaultDevice
    }

    /// The token of an `Authorization` header.
    init?(authorization: String) {
        guard authorization.prefix(7).lowercased() == "bearer " else { return nil }
        self.init(authorization.dropFirst(7))
    }

    /// Made of both names; two tokens for one device have the same.
    var digest: TokenDigest { TokenDigest(of: "\(world)/\(device)") }

    /// Two names never have the same id, for all that matters.
    var deviceID: String {
        String(Self.hexadecimal(SHA256.hash(data: Data("\(world)/\(device)".utf8))).prefix(16))
    }

    /// The text if it is a valid name; otherwise its beginning, as far as a name may contain it, and a part of its
    /// digest.
    static func safeName(_ text: some StringProtocol) -> String {
        let text = String(text)
        if Device.isValidAccount(text) { return text }
        let start = text.utf8.prefix(32).map { byte in
            Device.isValidAccount("a" + String(decoding: [byte], as: UTF8.self)) ? byte : UInt8(ascii: "-")
        }
        let digest = hexadecimal(SHA256.hash(data: Data(text.utf8))).prefix(12)
        return (start.first == UInt8(ascii: ".") ? "-" : "") + String(decoding: start, as: UTF8.self) + "-" + digest
    }

    private static func isToken68(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/".utf8.contains(byte)
        }
    }

    private static func hexadecimal(_ digest: SHA256.Digest) -> String {
        digest.map { $0.hexadecimal(digits: 2) }.joined()
    }
}
