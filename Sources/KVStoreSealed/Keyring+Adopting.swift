import Essentials
import KVStoreCore

/// What the account's store for keys contains.
struct KeyDirectory: Sendable {
    var announcements: [ContentKeyID: KeyAnnouncement] = [:]
    /// The sealed description of each device, under `device/<id>`.
    var devices: [SealingDeviceID: Data] = [:]
    /// Earlier keys, sealed with a later one, under `former/<id>` of that one.
    var formers: [ContentKeyID: Data] = [:]

    static let devicePrefix = "device/"
    static let formerPrefix = "former/"
    static let storeName = "seal"

    static func place(_ prefix: String, _ id: some HexadecimalIdentifier) -> SealedValue.Place {
        SealedValue.Place(store: storeName, storedKey: prefix + id.description)
    }
}

extension Keyring {
    /// Adopts the keys that other devices have announced for this one, and learns of devices that have the present key.
    ///
    /// A key replaces the present one only with a proof by the present one: a device that was removed has that no longer.
    mutating func adopt(_ directory: KeyDirectory) {
        learnMembers(directory)
        while let next = successor(in: directory) {
            guard add(next.key) else { break }
            remove(next.announcement.removed.compactMap { SealingDeviceID($0) })
            learnMembers(directory)
        }
        // Those of earlier keys too: they may have been added by a device that had both.
        for key in keys { learnFormer(of: key, directory) }
    }

    private func successor(
        in directory: KeyDirectory
    ) -> (key: ContentKey, announcement: KeyAnnouncement)? {
        guard let current else { return nil }
        return directory.announcements.lazy.compactMap { [self] id, announcement in
            guard announcement.created > current.created, self[id] == nil,
                announcement.isAuthentic(of: id, by: current),
                let envelope = announcement.envelopes[device.description],
                let key = KeyEnvelope.open(
                    envelope, id: id, created: announcement.created, for: self)
            else { return nil }
            return (key, announcement)
        }.max { ContentKey.isNewer($1.key, $0.key) }
    }

    private mutating func learnMembers(_ directory: KeyDirectory) {
        if let current { learnMembers(directory, having: current) }
    }

    /// Learns of the devices that have a key.
    mutating func learnMembers(_ directory: KeyDirectory, having key: ContentKey) {
        for (id, bytes) in directory.devices {
            let place = KeyDirectory.place(KeyDirectory.devicePrefix, id)
            if let member = Self.member(bytes, key, place) { add(member, id) }
        }
    }

    private static func member(
        _ bytes: Data, _ key: ContentKey, _ place: SealedValue.Place
    ) -> Member? {
        guard let value = try? SealedValue(opening: bytes, with: key, at: place) else { return nil }
        return try? PropertyListDecoder().decode(Member.self, from: value.bytes)
    }

    /// Keys older than the one that seals them: they never become the present one.
    private mutating func learnFormer(of key: ContentKey, _ directory: KeyDirectory) {
        let place = KeyDirectory.place(KeyDirectory.formerPrefix, key.id)
        guard let bytes = directory.formers[key.id],
            let value = try? SealedValue(opening: bytes, with: key, at: place),
            let formers = try? PropertyListDecoder().decode([Former].self, from: value.bytes)
        else { return }
        for former in formers where former.created < key.created {
            if let former = ContentKey(secret: former.secret, created: former.created) {
                add(former)
            }
        }
    }

    private struct Former: Codable {
        var secret: Data
        var created: Int64
    }

    /// This device's description, sealed with the present key; nil without one, and if the directory has it.
    func missingDescription(in directory: KeyDirectory, revision: UInt64) -> Data? {
        let place = KeyDirectory.place(KeyDirectory.devicePrefix, device)
        guard let current else { return nil }
        if let bytes = directory.devices[device], Self.member(bytes, current, place) == description
        {
            return nil
        }
        return seal(description, place, revision)
    }

    /// The earlier keys, sealed with the present one; nil without any, and if the directory has them.
    func missingFormers(in directory: KeyDirectory, revision: UInt64) -> Data? {
        guard let current, keys.count > 1 else { return nil }
        var known = Keyring(name: "")
        known.add(current)
        known.learnFormer(of: current, directory)
        guard known.keys.count < keys.count else { return nil }
        let formers = keys.dropFirst().map { Former(secret: $0.secret, created: $0.created) }
        return seal(formers, KeyDirectory.place(KeyDirectory.formerPrefix, current.id), revision)
    }

    private func seal(
        _ value: some Encodable, _ place: SealedValue.Place, _ revision: UInt64
    ) -> Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let current, let bytes = try? encoder.encode(value) else { return nil }
        return SealedValue(name: place.storedKey, revision: revision, bytes: bytes)
            .sealed(with: current, at: place)
    }
}
