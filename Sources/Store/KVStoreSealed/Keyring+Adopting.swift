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
    /// A key that the present one proves replaces it. So does one that an earlier key proves, if it is the one that all
    /// devices choose of keys that were made at once, and nobody has been left out since that earlier key: whoever was
    /// left out may have it still. Otherwise such a key only opens values.
    mutating func adopt(_ directory: KeyDirectory) {
        var announced = directory.announcements.filter { self[$0.key] == nil }
            .sorted { ($0.value.created, $0.key.rawValue) > ($1.value.created, $1.key.rawValue) }
        while let index = announced.firstIndex(where: { isGiven($0.value, of: $0.key) }) {
            let (id, announcement) = announced.remove(at: index)
            accept(id, announcement, directory)
        }
        // Earlier keys as well: a device may have got one, or added to it, before it heard of the next.
        for key in keys where isTrusted(key) {
            learnFormer(of: key, directory)
            learnMembers(directory, having: key)
        }
        missing =
            announced.first { id, announcement in
                self[id] == nil && announcement.created >= current?.created ?? 0
                    && fork(of: id, announcement).map(isTrusted) == true
            }?.key
    }

    /// Whether all who have the key may have the present one.
    private func isTrusted(_ key: ContentKey) -> Bool { removed(since: key)?.isEmpty == true }

    /// The latest key by which this device recognizes an announcement.
    private func fork(of id: ContentKeyID, _ announcement: KeyAnnouncement) -> ContentKey? {
        keys.first { removals[$0.id] != nil && announcement.isAuthentic(of: id, by: $0) }
    }

    private func isGiven(_ announcement: KeyAnnouncement, of id: ContentKeyID) -> Bool {
        fork(of: id, announcement) != nil && key(in: announcement, of: id) != nil
    }

    private func key(in announcement: KeyAnnouncement, of id: ContentKeyID) -> ContentKey? {
        announcement.envelopes[device.description].flatMap {
            KeyEnvelope.open($0, id: id, created: announcement.created, for: self)
        }
    }

    private mutating func accept(
        _ id: ContentKeyID, _ announcement: KeyAnnouncement, _ directory: KeyDirectory
    ) {
        guard let current, let key = key(in: announcement, of: id),
            let fork = fork(of: id, announcement)
        else { return }
        let removed = announcement.removedDevices
        let isEarlier = directory.announcements[current.id]?.isAuthentic(of: current.id, by: key) ?? false
        let isChosen =
            !isEarlier && isTrusted(fork)
            && (!removed.isSubset(of: removals[fork.id] ?? []) || ContentKey.isNewer(key, current))
        if fork == current || isChosen {
            use(key, without: removed)
        } else {
            add(key, without: isTrusted(fork) ? removed : nil)
            if !isEarlier { remove(removed.subtracting([device])) }
        }
    }

    /// Learns of the devices that have a key.
    mutating func learnMembers(_ directory: KeyDirectory, having key: ContentKey) {
        for (id, bytes) in directory.devices where key == current || members[id] == nil {
            let place = KeyDirectory.place(KeyDirectory.devicePrefix, id)
            if let member = Self.member(bytes, key, place) { add(member, id) }
        }
    }

    private static func member(_ bytes: Data, _ key: ContentKey, _ place: SealedValue.Place) -> Member? {
        // Not authentic: not a member.
        guard let value = try? SealedValue(opening: bytes, with: key, at: place) else { return nil }
        return try? PropertyListDecoder().decode(Member.self, from: value.bytes)  // not a member
    }

    /// They never become the present one.
    private mutating func learnFormer(of key: ContentKey, _ directory: KeyDirectory) {
        let place = KeyDirectory.place(KeyDirectory.formerPrefix, key.id)
        guard let bytes = directory.formers[key.id], let value = try? SealedValue(opening: bytes, with: key, at: place),
            let formers = try? PropertyListDecoder().decode([Former].self, from: value.bytes)
        else { return }
        for former in formers {
            if let former = ContentKey(secret: former.secret, created: former.created) {
                add(former)
            }
        }
    }

    private struct Former: Codable {
        var secret: Data
        var created: Int64
    }

    /// The announcement of the present key with what the directory's lacks: envelopes for devices that this one knows
    /// and its maker did not. Nil without a present key, and if it lacks nothing.
    func missingAnnouncement(in directory: KeyDirectory) -> KeyAnnouncement? {
        guard let current else { return nil }
        let present = announcement(of: current, directory)
        var announcement =
            present ?? KeyAnnouncement(of: current, by: device, named: name, removed: removals[current.id] ?? [])
        let lacking = members.filter { id, _ in
            announcement.envelopes[id.description] == nil && !hasKey(id, current, directory)
        }
        announcement.addEnvelopes(of: current, for: lacking)
        guard announcement != present else { return nil }
        let proving = keys.filter { removals[$0.id] != nil }
        announcement.authenticate(of: current.id, with: proving)
        return announcement
    }

    private func announcement(of key: ContentKey, _ directory: KeyDirectory) -> KeyAnnouncement? {
        directory.announcements[key.id].flatMap { $0.isAuthentic(of: key.id, by: key) ? $0 : nil }
    }

    private func hasKey(_ id: SealingDeviceID, _ key: ContentKey, _ directory: KeyDirectory) -> Bool {
        let place = KeyDirectory.place(KeyDirectory.devicePrefix, id)
        return directory.devices[id].flatMap { Self.member($0, key, place) } != nil
    }

    /// What the directory has of keys that the present one has replaced for everyone: all that had one of them get the
    /// present one by its announcement, and the earlier ones with it.
    func supersededKeys(in directory: KeyDirectory) -> [String] {
        guard let current, let announcement = announcement(of: current, directory) else {
            return []
        }
        let hasFormers = missingFormers(in: directory, revision: 0) == nil
        return keys.dropFirst().flatMap { key -> [String] in
            var superseded: [String] = []
            if let former = directory.announcements[key.id], announcement.isAuthentic(of: current.id, by: key),
                former.envelopes.keys.allSatisfy({
                    announcement.envelopes[$0] != nil || announcement.removed.contains($0)
                        || SealingDeviceID($0).map { hasKey($0, current, directory) } ?? true
                })
            {
                superseded.append(KeyDirectory.place(KeyAnnouncement.storedKeyPrefix, key.id).storedKey)
            }
            if hasFormers, directory.formers[key.id] != nil {
                superseded.append(KeyDirectory.place(KeyDirectory.formerPrefix, key.id).storedKey)
            }
            return superseded
        }
    }

    /// This device's description, sealed with the present key; nil without one, and if the directory has it.
    func missingDescription(in directory: KeyDirectory, revision: UInt64) -> Data? {
        let place = KeyDirectory.place(KeyDirectory.devicePrefix, device)
        guard let current else { return nil }
        if let bytes = directory.devices[device], Self.member(bytes, current, place) == description {
            return nil
        }
        return seal(description, place, revision)
    }

    /// The earlier keys, sealed with the present one; nil without any, and if the directory has them.
    func missingFormers(in directory: KeyDirectory, revision: UInt64) -> Data? {
        guard let current, keys.count > 1 else { return nil }
        var known = Keyring(name: "")
        known.use(current)
        known.learnFormer(of: current, directory)
        guard known.keys.count < keys.count else { return nil }
        let formers = keys.dropFirst().map { Former(secret: $0.secret, created: $0.created) }
        return seal(formers, KeyDirectory.place(KeyDirectory.formerPrefix, current.id), revision)
    }

    private func seal(_ value: some Encodable, _ place: SealedValue.Place, _ revision: UInt64) -> Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        // Structs of plain values always encode.
        guard let current, let bytes = try? encoder.encode(value) else { return nil }
        return SealedValue(name: place.storedKey, revision: revision, bytes: bytes).sealed(with: current, at: place)
    }
}
