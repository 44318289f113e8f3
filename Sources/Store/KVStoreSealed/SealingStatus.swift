import Crypto
public import Essentials
public import KVStoreEssentials
import KVStoreWire

/// Which keys and devices an account's sealed values have, as far as this device knows.
///
/// ```swift
/// let status = try account.status()
/// for device in status.devices where !device.isThis { print(device.id, device.name) }
/// print(status.unknown.map(\.id))
/// ```
public struct SealingStatus: Sendable, Equatable, Encodable {
    public struct Key: Sendable, Equatable, Encodable {
        public var id: ContentKeyID
        public var created: Date
        /// Six digits, as "123 456": two devices that show the same have the same key. Nil for a key that this device
        /// lacks.
        public var comparisonCode: String?
        /// The name of the device that announced it, which may be anything.
        public var creator: String?
    }

    public struct Device: Sendable, Equatable, Encodable {
        public var id: SealingDeviceID
        public var name: String
        public var isThis: Bool
    }

    /// With which this device seals; nil without any.
    public var current: Key?
    /// Earlier keys, with which it opens older values.
    public var formerKeyCount: Int
    /// The devices that have the present key, or will be given the next one, by name.
    public var devices: [Device]
    /// Keys that others have announced and this device lacks: it was left out, has not been joined, or two devices have
    /// made a key at once.
    public var unknown: [Key]
}

extension SealedAccount {
    public func status() throws(StoreError) -> SealingStatus {
        let (ring, directory) = try known()
        let latest = WireNumber.milliseconds.upperBound
        func key(_ id: ContentKeyID, _ created: Int64, _ key: ContentKey?) -> SealingStatus.Key {
            SealingStatus.Key(
                id: id, created: Date(timeIntervalSince1970: Double(min(max(created, 0), latest)) / 1_000),
                comparisonCode: key?.comparisonCode, creator: directory.announcements[id]?.name)
        }
        let members = ring?.members.map { ($0.key, $0.value.name, false) } ?? []
        let this = ring.map { [($0.device, $0.name, true)] } ?? []
        return SealingStatus(
            current: ring?.current.map { key($0.id, $0.created, $0) },
            formerKeyCount: max(0, (ring?.keys.count ?? 0) - 1),
            devices: (members + this)
                .map { SealingStatus.Device(id: $0, name: $1, isThis: $2) }
                .sorted { ($0.name, $0.id.rawValue) < ($1.name, $1.id.rawValue) },
            unknown: directory.announcements
                .filter { ring?[$0.key] == nil }
                .map { key($0.key, $0.value.created, nil) }
                .sorted { ($0.created, $0.id.rawValue) < ($1.created, $1.id.rawValue) })
    }
}

extension ContentKey {
    /// Six digits that two devices with the same key show.
    var comparisonCode: String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("comparison".utf8), using: announcements)
        let number = code.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) } % 1_000_000
        let digits = String(String(1_000_000 + number).dropFirst())
        return "\(digits.prefix(3)) \(digits.suffix(3))"
    }
}
