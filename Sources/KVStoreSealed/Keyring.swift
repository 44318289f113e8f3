import Crypto
import Essentials
import KVStoreCore

/// The content keys of a device, and the devices that it gives a new key to. Pure: reading and writing it is
/// `SealedAccount`'s.
struct Keyring: Sendable {
    struct Member: Sendable, Equatable, Codable {
        var name: String
        /// X25519.
        var publicKey: Data
    }

    let device: SealingDeviceID
    var name: String
    let privateKey: Curve25519.KeyAgreement.PrivateKey
    /// Newest first. Values are sealed with the first, and opened with any.
    private(set) var keys: [ContentKey] = []
    /// The other devices that had the present key, or an earlier one, and were not removed.
    private(set) var members: [SealingDeviceID: Member] = [:]

    /// More than anyone changes.
    static let keyCount = 256
    static let memberCount = 256

    init(name: String) {
        device = SealingDeviceID(rawValue: .random(in: .min ... .max))
        self.name = name
        privateKey = Curve25519.KeyAgreement.PrivateKey()
    }

    var current: ContentKey? { keys.first }

    subscript(id: ContentKeyID) -> ContentKey? { keys.first { $0.id == id } }

    /// Whether the key was new.
    @discardableResult
    mutating func add(_ key: ContentKey) -> Bool {
        guard self[key.id] == nil, keys.count < Self.keyCount else { return false }
        keys.append(key)
        keys.sort(by: ContentKey.isNewer)
        return true
    }

    mutating func add(_ member: Member, _ id: SealingDeviceID) {
        guard id != device, members[id] != nil || members.count < Self.memberCount else { return }
        members[id] = member
    }

    mutating func remove(_ ids: some Sequence<SealingDeviceID>) {
        for id in ids { members[id] = nil }
    }

    /// A key to replace the present one, announced for the members and for this device, which adopts it as they do.
    ///
    /// - Parameters:
    ///   - parents: the keys by which devices recognize the announcement: the present one of each.
    ///   - now: milliseconds since 1970.
    func announceKey(
        parents: [ContentKey], removing removed: Set<SealingDeviceID>, now: Int64
    ) -> (id: ContentKeyID, announcement: KeyAnnouncement) {
        let key = ContentKey.random(created: max(now, (current?.created ?? 0) + 1))
        var announcement = KeyAnnouncement(
            of: key, by: device, named: name, removed: removed.sorted { $0.rawValue < $1.rawValue })
        var recipients = members.filter { !removed.contains($0.key) }
        recipients[device] = description
        for (id, member) in recipients {
            announcement.envelopes[id.description] = KeyEnvelope.seal(
                key, to: member.publicKey, of: id)
        }
        announcement.authenticate(of: key.id, with: parents + [key])
        return (key.id, announcement)
    }

    /// This device as the others know it.
    var description: Member {
        Member(name: name, publicKey: privateKey.publicKey.rawRepresentation)
    }
}

extension Keyring: Equatable {
    static func == (left: Keyring, right: Keyring) -> Bool {
        left.device == right.device && left.name == right.name && left.keys == right.keys
            && left.members == right.members
    }
}

// MARK: - As a file

extension Keyring: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, device, name, privateKey, keys, members
    }

    private struct Key: Codable {
        var secret: Data
        var created: Int64
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func invalid(_ key: CodingKeys, _ reason: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: fields, debugDescription: reason)
        }
        let version = try fields.decode(Int.self, forKey: .version)
        guard version == 1 else { throw invalid(.version, "version \(version) is not supported") }
        guard let device = SealingDeviceID(try fields.decode(String.self, forKey: .device))
        else { throw invalid(.device, "not a device id") }
        self.device = device
        name = try fields.decode(String.self, forKey: .name)
        guard
            let privateKey = try? Curve25519.KeyAgreement.PrivateKey(
                rawRepresentation: fields.decode(Data.self, forKey: .privateKey))
        else { throw invalid(.privateKey, "not a private key") }
        self.privateKey = privateKey
        for key in try fields.decode([Key].self, forKey: .keys) {
            guard let key = ContentKey(secret: key.secret, created: key.created)
            else { throw invalid(.keys, "a key has not 16 bytes") }
            add(key)
        }
        for (id, member) in try fields.decode([String: Member].self, forKey: .members) {
            guard let id = SealingDeviceID(id) else { throw invalid(.members, "not a device id") }
            add(member, id)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .version)
        try fields.encode(device.description, forKey: .device)
        try fields.encode(name, forKey: .name)
        try fields.encode(privateKey.rawRepresentation, forKey: .privateKey)
        try fields.encode(
            keys.map { Key(secret: $0.secret, created: $0.created) }, forKey: .keys)
        try fields.encode(
            Dictionary(uniqueKeysWithValues: members.map { ($0.key.description, $0.value) }),
            forKey: .members)
    }
}
