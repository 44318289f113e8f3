// Values that only the devices of their user can read: keys, the format of sealed values, who has which key. Not here:
// the store that carries them (KVStoreEssentials), and the commands for keys (kvs).

import Crypto
import Essentials
public import KVStoreCore
import KVStoreWire

/// A secret of 128 bits from which everything that seals values is derived. The daemon never has it.
struct ContentKey: Sendable, Equatable {
    static let byteCount = 16
    /// What the keys of sealed values begin with.
    static let storedKeyPrefix = "s/"

    let secret: Data
    /// Milliseconds since 1970.
    var created: Int64
    /// Identifies the key, and reveals nothing of the secret.
    let id: ContentKeyID
    let values: SymmetricKey
    let announcements: SymmetricKey
    private let names: SymmetricKey

    /// Nil unless the secret has 16 bytes.
    init?(secret: some Collection<UInt8>, created: Int64) {
        guard secret.count == Self.byteCount else { return nil }
        let secret = Data(secret)
        // HKDF (RFC 5869) without a salt: the secret is uniformly random.
        func derive(_ purpose: String, byteCount: Int = 32) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: secret),
                info: Data("ubiquity seal 1 \(purpose)".utf8), outputByteCount: byteCount)
        }
        self.secret = secret
        self.created = created
        id = ContentKeyID(rawValue: derive("id", byteCount: 8).bigEndian)
        values = derive("value")
        announcements = derive("announcement")
        names = derive("name")
    }

    static func random(created: Int64) -> ContentKey {
        let secret = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        return ContentKey(secret: secret, created: created)!
    }

    /// Under what a store has the value of a name: 24 bytes that neither tell the name nor let anyone without the
    /// secret test a guess.
    func storedKey(of name: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(name.utf8), using: names)
        return Self.storedKeyPrefix + Data(code.prefix(16)).base64URL
    }

    /// The order by which all devices choose among keys that replaced the same one at once.
    static func isNewer(_ left: ContentKey, _ right: ContentKey) -> Bool {
        (left.created, left.id.rawValue) > (right.created, right.id.rawValue)
    }
}

/// Names a content key without revealing it.
///
/// For an example see `SealingStatus`.
public struct ContentKeyID: HexadecimalIdentifier, Encodable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names a device among those with a content key. It is made with the device's keyring, and is not the daemon's id.
///
/// For an example see `SealingStatus`.
public struct SealingDeviceID: HexadecimalIdentifier, Encodable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension HexadecimalIdentifier where Self: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension SymmetricKey {
    fileprivate var bigEndian: UInt64 {
        withUnsafeBytes { $0.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
