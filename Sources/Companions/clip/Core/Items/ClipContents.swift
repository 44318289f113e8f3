import Crypto
import Essentials

/// What was copied: bytes by type, sorted by type, each type once.
struct ClipContents: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        let type: ContentType
        let data: Data

        var isText: Bool { type.kind == .text || type.kind == .files }

        init(_ type: ContentType, _ data: Data) { (self.type, self.data) = (type, data) }

        init(_ type: ContentType, _ text: String) { self.init(type, Data(text.utf8)) }
    }

    let parts: [Part]
    static let partLimit = 16

    /// Keeps the first part of each type, and at most `partLimit` parts: the first by type.
    init(_ parts: some Sequence<Part>) {
        var seen: Set<ContentType> = []
        self.parts = Array(
            parts.filter { seen.insert($0.type).inserted }.sorted { $0.type < $1.type }
                .prefix(Self.partLimit))
    }

    init(text: String) { self.init([Part(.text, text)]) }

    subscript(type: ContentType) -> Data? { parts.first { $0.type == type }?.data }

    func text(_ type: ContentType) -> String? { self[type].map { String(decoding: $0, as: UTF8.self) } }

    var byteCount: Int { parts.reduce(0) { $0 + $1.data.count } }

    // MARK: Identity

    /// Without what only says something about the copy.
    private var lasting: [Part] { parts.filter { !$0.type.isTransient } }

    /// Whether there is anything in it but markers.
    var isLasting: Bool { !lasting.isEmpty }

    /// The same for every copy of the same contents, on each device: for each part, ordered by type, the length and
    /// bytes of the type and of the data; lengths are 32 bits, least significant byte first.
    var canonicalBytes: Data {
        var bytes = Data()
        for part in lasting {
            for field in [Data(part.type.rawValue.utf8), part.data] {
                withUnsafeBytes(of: UInt32(clamping: field.count).littleEndian) {
                    bytes.append(contentsOf: $0)
                }
                bytes.append(field)
            }
        }
        return bytes
    }

    /// Whether all that lasts of other contents is in these, with equal bytes. Contents of markers alone are superseded
    /// by none, where the rule taken literally would have them superseded by all.
    func supersede(_ other: ClipContents) -> Bool {
        let lasting = other.lasting
        return !lasting.isEmpty && lasting.allSatisfy { self[$0.type] == $0.data }
    }
}

/// The name of an item in the store: the same copy has the same on each device.
///
/// `i/` and 22 characters of base64url: the first 128 bits of a SHA-256 digest of the canonical contents. The sealed
/// store keys it, so that who has no content key cannot test guesses.
struct ItemKey: Hashable, Comparable, Sendable {
    let name: String

    /// - Parameter digest: of `ClipContents.canonicalBytes`, at least 16 bytes.
    init(digest: some Sequence<UInt8>) {
        let bytes = Data(digest.prefix(16))
        precondition(bytes.count == 16, "a digest has at least 128 bits")
        let text = bytes.base64EncodedString().prefix(22).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        name = "i/" + String(text)
    }

    /// Equal contents have the same on every machine.
    init(of contents: ClipContents) { self.init(digest: SHA256.hash(data: contents.canonicalBytes)) }

    /// Nil unless the name is a key of an item.
    init?(name: String) {
        guard name.utf8.count == 24, name.hasPrefix("i/"),
            name.utf8.dropFirst(2).allSatisfy({ ByteSet.token.contains($0) })
        else { return nil }
        self.name = name
    }

    static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// What is known of contents whose bytes are on another device: types and sizes, and the dimensions of an image.
struct ContentStub: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        let type: ContentType
        let byteCount: UInt64
    }

    let parts: [Part]
    let imageSize: PixelSize?

    init(parts: [Part], imageSize: PixelSize?) {
        self.parts = Array(parts.prefix(ClipContents.partLimit))
        self.imageSize = imageSize
    }

    init(of contents: ClipContents) {
        self.init(
            parts: contents.parts.map { Part(type: $0.type, byteCount: UInt64($0.data.count)) },
            imageSize: contents.parts.lazy.compactMap { PixelSize(of: $0.data) }.first)
    }

    var byteCount: UInt64 { parts.reduce(0) { $0.addingSaturated($1.byteCount) } }

    var canonicalBytes: Data {
        var writer = FieldWriter()
        writer.append(self)
        return writer.bytes
    }
}

/// Width and height of an image.
struct PixelSize: Hashable, Sendable {
    let width: UInt32
    let height: UInt32

    init(width: UInt32, height: UInt32) { (self.width, self.height) = (width, height) }

    /// From the header of a PNG or JPEG image; nil for anything else.
    init?(of data: Data) {
        // Most data are no image, and are not copied.
        guard let first = data.first, [0x89, 0xFF].contains(first) else { return nil }
        let bytes = [UInt8](data.prefix(65_536))
        if let size = Self.png(bytes) ?? Self.jpeg(bytes) { self = size } else { return nil }
    }

    private static func png(_ bytes: [UInt8]) -> PixelSize? {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        guard bytes.count >= 24, bytes.starts(with: signature),
            bytes[12..<16].elementsEqual("IHDR".utf8)
        else { return nil }
        return PixelSize(width: bytes.bigEndian(at: 16, count: 4), height: bytes.bigEndian(at: 20, count: 4))
    }

    /// The segments up to the start of a frame (ITU-T T.81, annex B).
    private static func jpeg(_ bytes: [UInt8]) -> PixelSize? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var offset = 2
        while offset + 9 <= bytes.count, bytes[offset] == 0xFF {
            let marker = bytes[offset + 1]
            if marker == 0xFF {
                offset += 1
            } else if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                return PixelSize(
                    width: bytes.bigEndian(at: offset + 7, count: 2), height: bytes.bigEndian(at: offset + 5, count: 2))
            } else {
                offset += 2 + Int(bytes.bigEndian(at: offset + 2, count: 2))
            }
        }
        return nil
    }
}

extension [UInt8] {
    fileprivate func bigEndian(at offset: Int, count: Int) -> UInt32 {
        self[offset..<(offset + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
