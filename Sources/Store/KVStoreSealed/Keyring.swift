import Crypto
import Essentials
import KVStoreCore
import KVStoreWire

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
    /// Values are sealed with the first, and opened with any.
    private(set) var keys: [ContentKey] = []
    /// Who had been left out by the time of the present key, and of each that it has followed on this device. A key
    /// that only opens values is not here.
    private(set) var removals: [ContentKeyID: Set<SealingDeviceID>] = [:]
    /// The other devices that had the present key, or an earlier one, and were not removed.
    private(set) var members: [SealingDeviceID: Member] = [:]
    /// A key that has replaced one of this device's, and that it was not given: what it can open may be out of date.
    var missing: ContentKeyID?

    /// Older ones are forgotten, long after everything has been sealed again.
    static let keyCount = 256
    static let memberCount = 256

    init(name: String) {
        device = SealingDeviceID(rawValue: .random(in: .min ... .max))
        self.name = name
        privateKey = Curve25519.KeyAgreement.PrivateKey()
    }

    /// The keys of another one, for a device that is to be given new ones again after it was left out.
    init(renewing former: Keyring) {
        self.init(name: former.name)
        (keys, removals, members) = (former.keys, former.removals, former.members)
    }

    var current: ContentKey? { keys.first }

    subscript(id: ContentKeyID) -> ContentKey? { keys.first { $0.id == id } }

    /// Seals with the key from now on.
    mutating func use(_ key: ContentKey, without removed: Set<SealingDeviceID> = []) {
        keys.removeAll { $0.id == key.id }
        keys.insert(key, at: 0)
        while keys.count > Self.keyCount { removals[keys.removeLast().id] = nil }
        removals[key.id] = removed
        for id in removed { members[id] = nil }
    }

    /// Opens values with the key too.
    ///
    /// - Parameter removed: if the key can be trusted like the present one.
    mutating func add(_ key: ContentKey, without removed: Set<SealingDeviceID>? = nil) {
        guard self[key.id] == nil, keys.count < Self.keyCount else { return }
        keys.append(key)
        removals[key.id] = removed
    }

    /// A device that was left out has another id when it has joined again.
    mutating func add(_ member: Member, _ id: SealingDeviceID) {
        let isLeftOut = current.map { removals[$0.id, default: []].contains(id) } ?? false
        guard id != device, !isLeftOut, members[id] != nil || members.count < Self.memberCount else { return }
        members[id] = member
    }

    /// Leaves devices out of the next key.
    mutating func remove(_ ids: Set<SealingDeviceID>) {
        for id in ids { members[id] = nil }
        if let current { removals[current.id, default: []].formUnion(ids) }
    }

    /// Who has been left out since a key that the present one has followed; nil for another key.
    func removed(since key: ContentKey) -> Set<SealingDeviceID>? {
        guard let current, let now = removals[current.id], let then = removals[key.id] else { return nil }
        return now.subtracting(then)
    }

    /// A key to replace the present one, announced for the members and for this device, which adopts it as they do.
    ///
    /// Devices recognize the announcement by whichever key they have: it is proved by all of this device's.
    ///
    /// - Parameter now: milliseconds since 1970.
    func announceKey(
        removing removed: Set<SealingDeviceID>, now: Int64
    ) -> (id: ContentKeyID, announcement: KeyAnnouncement) {
        let latest = WireNumber.milliseconds.upperBound
        let key = ContentKey.random(created: min(max(now, min(current?.created ?? 0, latest) + 1), latest))
        let recipients = members.filter { !removed.contains($0.key) }
        let earlier = current.flatMap { removals[$0.id] } ?? []
        let kept = earlier.subtracting(removed).sorted { $0.rawValue < $1.rawValue }
            .prefix(Self.memberCount - removed.count)
        var announcement = KeyAnnouncement(of: key, by: device, named: name, removed: removed.union(kept))
        announcement.addEnvelopes(of: key, for: recipients)
        announcement.addEnvelopes(of: key, for: [device: description])
        announcement.authenticate(of: key.id, with: keys + [key])
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
            && left.members == right.members && left.removals == right.removals
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
        var removed: [String]?
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
            let privateKey = try? Curve25519.KeyAgreement.PrivateKey(  // reported below
                rawRepresentation: fields.decode(Data.self, forKey: .privateKey))
        else { throw invalid(.privateKey, "not a private key") }
        self.privateKey = privateKey
        for key in try fields.decode([Key].self, forKey: .keys) {
            guard let content = ContentKey(secret: key.secret, created: key.created)
            else { throw invalid(.keys, "a key has not 16 bytes") }
            let removed = key.removed ?? (keys.isEmpty ? [] : nil)
            add(content, without: removed.map { Set($0.compactMap { SealingDeviceID($0) }) })
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
            keys.map { key in
                Key(secret: key.secret, created: key.created, removed: removals[key.id]?.map(\.description).sorted())
            }, forKey: .keys)
        try fields.encode(
            Dictionary(uniqueKeysWithValues: members.map { ($0.key.description, $0.value) }), forKey: .members)
    }
}
