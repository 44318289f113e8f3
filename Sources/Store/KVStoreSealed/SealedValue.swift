import Crypto
import Essentials
import KVStoreCore

/// A value with its name, and when it was written: what a sealed value contains. `docs/sealed-values.md` is normative.
struct SealedValue: Sendable, Equatable {
    var name: String
    /// Milliseconds since 1970, but above that of every former value of the same name that the writer had.
    var revision: UInt64
    /// A property list in the binary format.
    var bytes: Data

    enum Failure: Error, Equatable {
        case notSealed
        case unsupportedVersion(UInt8)
        case unknownKey(ContentKeyID)
        /// Other bytes than were sealed, or at another place.
        case notAuthentic
    }

    /// Where a value is, to which it is bound.
    struct Place {
        var store: String
        var storedKey: String
    }

    private static let magic = Array("UBQS".utf8)
    private static let version: UInt8 = 1
    /// Magic, version, the id of the key.
    private static let headerByteCount = 13
    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    /// - Parameter nonce: random unless a test vector gives it.
    func sealed(with key: ContentKey, at place: Place, nonce: ChaChaPoly.Nonce = .init()) -> Data {
        var plain: [UInt8] = []
        plain.append(littleEndian: revision)
        plain.append(littleEndian: UInt32(name.utf8.count))
        plain.append(contentsOf: name.utf8)
        plain.append(littleEndian: UInt32(bytes.count))
        plain.append(contentsOf: bytes)
        let padding = Self.paddedByteCount(plain.count) - plain.count
        plain.append(contentsOf: repeatElement(0, count: padding))
        var header = Self.magic + [Self.version]
        header.append(littleEndian: key.id.rawValue)
        guard
            let box = try? ChaChaPoly.seal(  // fails for no key of this length
                plain, using: key.values, nonce: nonce, authenticating: header + Self.label(place))
        else { preconditionFailure("ChaCha20-Poly1305 seals any bytes") }
        return header + box.combined
    }

    static func sealedByteCount(ofValue value: Int, name: Int) -> Int {
        headerByteCount + nonceByteCount + tagByteCount
            + paddedByteCount(16 + min(max(0, name), 1 << 20) + min(max(0, value), 1 << 30))
    }

    /// The key with which the bytes are sealed.
    static func keyID(of bytes: Data) throws(Failure) -> ContentKeyID {
        guard bytes.count >= headerByteCount, bytes.starts(with: magic) else { throw .notSealed }
        let header = Array(bytes.prefix(headerByteCount))
        guard header[magic.count] == version else {
            throw .unsupportedVersion(header[magic.count])
        }
        return header.withUnsafeBytes {
            ContentKeyID(rawValue: $0.littleEndian(UInt64.self, at: magic.count + 1))
        }
    }

    /// Opens bytes that were sealed with the key at the same place.
    init(opening bytes: Data, with key: ContentKey, at place: Place) throws(Failure) {
        guard try Self.keyID(of: bytes) == key.id else { throw .notAuthentic }
        let header = bytes.prefix(Self.headerByteCount)
        // Reported as not authentic.
        guard let box = try? ChaChaPoly.SealedBox(combined: bytes.dropFirst(header.count)),
            let plain = try? ChaChaPoly.open(box, using: key.values, authenticating: header + Self.label(place))
        else { throw .notAuthentic }
        // Authentic, so it was written by this code; checked nevertheless.
        guard let value = Array(plain).withUnsafeBytes(Self.init(plain:)) else {
            throw .notAuthentic
        }
        self = value
    }

    init(name: String, revision: UInt64, bytes: Data) {
        (self.name, self.revision, self.bytes) = (name, revision, bytes)
    }

    private init?(plain: UnsafeRawBufferPointer) {
        guard plain.count >= 16 else { return nil }
        let nameEnd = 12 + Int(plain.littleEndian(UInt32.self, at: 8))
        guard nameEnd + 4 <= plain.count, let name = plain.text(12..<nameEnd) else { return nil }
        let end = nameEnd + 4 + Int(plain.littleEndian(UInt32.self, at: nameEnd))
        guard end <= plain.count else { return nil }
        self.init(name: name, revision: plain.littleEndian(UInt64.self, at: 0), bytes: Data(plain[(nameEnd + 4)..<end]))
    }

    private static func label(_ place: Place) -> [UInt8] {
        Array(place.store.utf8) + [0] + Array(place.storedKey.utf8)
    }

    /// The size class of a length: Padmé (Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and
    /// Communication with PURBs", 2019), which adds at most 12 percent and leaves O(log log n) bits of the length; at
    /// least 64 bytes.
    static func paddedByteCount(_ count: Int) -> Int {
        guard count > 64 else { return 64 }
        let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
        let kept = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = 1 << (exponent - kept) - 1
        return (count + mask) & ~mask
    }
}
