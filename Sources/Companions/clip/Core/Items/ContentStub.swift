import Essentials

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
                    width: bytes.bigEndian(at: offset + 7, count: 2),
                    height: bytes.bigEndian(at: offset + 5, count: 2))
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
