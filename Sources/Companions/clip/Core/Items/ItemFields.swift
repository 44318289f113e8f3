import Essentials

/// Fields of the stored form of an item: a tag, a length and so many bytes. Numbers are LEB128.
struct FieldWriter {
    private(set) var bytes = Data()

    mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(_ text: String) { append(Data(text.utf8)) }

    mutating func append(_ data: Data) {
        append(UInt64(data.count))
        bytes.append(data)
    }

    /// Small for times near 1970 on both sides (zigzag).
    mutating func append(_ time: Timestamp) {
        let number = time.milliseconds
        append(UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    mutating func append(_ stub: ContentStub) {
        append(UInt64(stub.imageSize == nil ? 0 : 1))
        if let size = stub.imageSize {
            append(UInt64(size.width))
            append(UInt64(size.height))
        }
        append(UInt64(stub.parts.count))
        for part in stub.parts {
            append(part.type.rawValue)
            append(part.byteCount)
        }
    }

    mutating func field(_ tag: UInt8, _ content: (inout FieldWriter) -> Void) {
        var inner = FieldWriter()
        content(&inner)
        bytes.append(tag)
        append(inner.bytes)
    }
}

/// Reads what `FieldWriter` writes; bytes of any other form end in an error.
struct FieldReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() throws(ItemFormatError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .damaged("ends early") }
        return byte
    }

    mutating func number() throws(ItemFormatError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0, through: 63, by: 7) {
            let byte = try byte()
            let bits = UInt64(byte & 0x7F)
            guard shift < 63 || bits <= 1 else { break }
            number |= bits << UInt64(shift)
            if byte < 0x80 { return number }
        }
        throw .damaged("a number is too long")
    }

    mutating func number32() throws(ItemFormatError) -> UInt32 {
        guard let number = UInt32(exactly: try number()) else { throw .damaged("a number is too large") }
        return number
    }

    mutating func time() throws(ItemFormatError) -> Timestamp {
        let number = try number()
        return Timestamp(milliseconds: Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    }

    mutating func bytes() throws(ItemFormatError) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try number()), count <= rest.count else { throw .damaged("ends early") }
        defer { rest.removeFirst(count) }
        return rest.prefix(count)
    }

    mutating func text(_ name: String, limit: Int) throws(ItemFormatError) -> String {
        let bytes = try bytes()
        guard bytes.count <= limit, let text = String(validating: bytes, as: UTF8.self) else {
            throw .damaged("invalid \(name)")
        }
        return text
    }

    mutating func type() throws(ItemFormatError) -> ContentType {
        ContentType(rawValue: try text("type", limit: ContentType.byteLimit))
    }

    mutating func stub() throws(ItemFormatError) -> ContentStub {
        var size: PixelSize?
        if try number() != 0 {
            size = PixelSize(width: try number32(), height: try number32())
        }
        let count = try number()
        guard count <= ClipContents.partLimit else { throw .damaged("too many parts") }
        var parts: [ContentStub.Part] = []
        for _ in 0..<count {
            parts.append(ContentStub.Part(type: try type(), byteCount: try number()))
        }
        return ContentStub(parts: parts, imageSize: size)
    }
}
