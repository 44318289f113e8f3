import Crypto
import Essentials
import KVStoreCore
import KVStoreWire

/// What a device publishes about a new content key, under `key/<id>` of the account's store for keys.
struct KeyAnnouncement: Sendable, Equatable, Codable {
    /// Milliseconds since 1970.
    var created: Int64
    /// The device that made the key; its name is for people, and not authenticated.
    var device: String
    var name: String
    /// Devices that are not to get the key, nor got one of those that prove it later.
    var removed: [String]
    /// The secret for each other device, by its id.
    var envelopes: [String: Data] = [:]
    /// By the id of the key that a device has so far: the proof that who made this had that key too. One by the new key
    /// itself is for devices that get it by words.
    var proofs: [String: Data] = [:]

    static let storedKeyPrefix = "key/"

    init(of key: ContentKey, by device: SealingDeviceID, named name: String, removed: Set<SealingDeviceID> = []) {
        created = key.created
        self.device = device.description
        self.name = name
        self.removed = Array(removed.map(\.description).sorted().prefix(Keyring.memberCount))
    }

    var removedDevices: Set<SealingDeviceID> { Set(removed.compactMap { SealingDeviceID($0) }) }

    /// Adds the key for each device whose public key is one.
    mutating func addEnvelopes(of key: ContentKey, for members: [SealingDeviceID: Keyring.Member]) {
        for (id, member) in members {
            if let envelope = KeyEnvelope.seal(key, to: member.publicKey, of: id) {
                envelopes[id.description] = envelope
            }
        }
    }

    /// Adds a proof by each of the keys that the announcement is of the key `id`.
    mutating func authenticate(of id: ContentKeyID, with keys: [ContentKey]) {
        let proven = provenBytes(id)
        for key in keys {
            let code = HMAC<SHA256>.authenticationCode(for: proven, using: key.announcements)
            proofs[key.id.description] = Data(code)
        }
    }

    func isAuthentic(of id: ContentKeyID, by key: ContentKey) -> Bool {
        // Whoever has the key could otherwise announce one that no later one can follow.
        guard let proof = proofs[key.id.description], WireNumber.milliseconds.contains(created),
            removed.count <= Keyring.memberCount
        else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: provenBytes(id), using: key.announcements)
    }

    /// Everything that a proof covers: lists with their counts, texts and bytes with their lengths.
    private func provenBytes(_ id: ContentKeyID) -> Data {
        var bytes: [UInt8] = []
        func append(_ part: some Collection<UInt8>) {
            bytes.append(littleEndian: UInt32(part.count))
            bytes.append(contentsOf: part)
        }
        append("ubiquity seal 1 announcement".utf8)
        bytes.append(littleEndian: id.rawValue)
        bytes.append(littleEndian: created)
        append(device.utf8)
        bytes.append(littleEndian: UInt32(removed.count))
        for id in removed { append(id.utf8) }
        bytes.append(littleEndian: UInt32(envelopes.count))
        for (id, envelope) in envelopes.sorted(by: { $0.key < $1.key }) {
            append(id.utf8)
            append(envelope)
        }
        return Data(bytes)
    }
}

/// A content key for one device: HPKE (RFC 9180) in base mode with X25519, HKDF-SHA-256 and ChaCha20-Poly1305. Who made
/// it is proved by the announcement.
enum KeyEnvelope {
    private static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private static let encapsulatedByteCount = 32

    private static func info(_ id: ContentKeyID, _ recipient: SealingDeviceID) -> Data {
        Data("ubiquity seal 1 envelope \(id) \(recipient)".utf8)
    }

    /// Nil for a public key that no one can have.
    static func seal(_ key: ContentKey, to publicKey: Data, of recipient: SealingDeviceID) -> Data? {
        guard let publicKey = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey),  // nil says so
            var sender = try? HPKE.Sender(recipientKey: publicKey, ciphersuite: suite, info: info(key.id, recipient)),
            let sealed = try? sender.seal(key.secret)  // nil says so
        else { return nil }
        return sender.encapsulatedKey + sealed
    }

    /// Nil unless the envelope contains the key with this id for this device.
    static func open(_ envelope: Data, id: ContentKeyID, created: Int64, for ring: Keyring) -> ContentKey? {
        guard
            var recipient = try? HPKE.Recipient(  // not for this device
                privateKey: ring.privateKey, ciphersuite: suite, info: info(id, ring.device),
                encapsulatedKey: envelope.prefix(encapsulatedByteCount)),
            let secret = try? recipient.open(envelope.dropFirst(encapsulatedByteCount)),  // not for this device
            let key = ContentKey(secret: secret, created: created), key.id == id
        else { return nil }
        return key
    }
}
