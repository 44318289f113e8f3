import Essentials

/// Why bytes are not an item.
enum ItemFormatError: Error, Hashable, CustomStringConvertible {
    /// Written by a newer version, whose items are left as they are.
    case unsupportedVersion(UInt8)
    case tooLarge(Int)
    case damaged(String)

    var description: String {
        switch self {
        case .unsupportedVersion(let version): "item in version \(version) of the format; update this program"
        case .tooLarge(let count): "item of \(count) bytes, more than \(ClipItem.encodedByteLimit)"
        case .damaged(let reason): "damaged item: \(reason)"
        }
    }
}

extension ClipItem {
    /// More than contents of the largest limit of an item need.
    static let encodedByteLimit = 128 * 1_024
    private static let version: UInt8 = 1

    private enum Tag: UInt8 {
        case times = 1
        case origin, application, title, count, pin, part, stub
    }

    /// The stored form: the version, then fields. Equal items have equal bytes.
    var encoded: Data {
        var writer = FieldWriter()
        writer.append(UInt64(Self.version))
        writer.field(Tag.times.rawValue) {
            $0.append(firstCopied)
            $0.append(lastCopied)
        }
        writer.field(Tag.origin.rawValue) { $0.append(origin.device) }
        if let application = origin.application {
            writer.field(Tag.application.rawValue) { $0.append(application) }
        }
        if let title = origin.title { writer.field(Tag.title.rawValue) { $0.append(title) } }
        for (device, count) in counts.sorted(by: { $0.key < $1.key }) {
            writer.field(Tag.count.rawValue) {
                $0.append(device)
                $0.append(UInt64(count))
            }
        }
        if pin != .never {
            writer.field(Tag.pin.rawValue) {
                $0.append(pin.changed)
                $0.append(pin.pin.map { pin in pin.letter.map { String($0.character) } ?? " " } ?? "")
            }
        }
        switch body {
        case .contents(let contents):
            for part in contents.parts {
                writer.field(Tag.part.rawValue) {
                    $0.append(part.type.rawValue)
                    $0.append(part.data)
                }
            }
        case .stub(let stub): writer.field(Tag.stub.rawValue) { $0.append(stub) }
        }
        return writer.bytes
    }

    /// Reads the stored form. Fields of unknown tags are skipped.
    init(encoded bytes: Data) throws(ItemFormatError) {
        guard bytes.count <= Self.encodedByteLimit else { throw .tooLarge(bytes.count) }
        var reader = FieldReader(Array(bytes)[...])
        let version = try reader.byte()
        guard version == Self.version else { throw .unsupportedVersion(version) }
        var fields = Fields()
        while !reader.isAtEnd {
            let tag = try reader.byte()
            var field = FieldReader(try reader.bytes())
            if let tag = Tag(rawValue: tag) { try fields.read(tag, &field) }
        }
        self = try fields.item()
    }

    private struct Fields {
        var times: (first: Timestamp, last: Timestamp)?
        var device: String?
        var application: String?
        var title: String?
        var counts: [String: UInt32] = [:]
        var pin = PinState.never
        var parts: [ClipContents.Part] = []
        var stub: ContentStub?

        mutating func read(_ tag: Tag, _ field: inout FieldReader) throws(ItemFormatError) {
            switch tag {
            case .times: times = (first: try field.time(), last: try field.time())
            case .origin: device = try field.text("device", limit: Origin.deviceByteLimit)
            case .application: application = try field.text("application", limit: Origin.applicationByteLimit)
            case .title: title = try field.text("title", limit: Origin.titleByteLimit)
            case .count:
                let device = try field.text("device", limit: Origin.deviceByteLimit)
                counts[device] = max(counts[device] ?? 0, try field.number32())
                guard counts.count <= ClipItem.deviceLimit else { throw .damaged("too many devices") }
            case .pin:
                let changed = try field.time()
                pin = PinState(try Self.pin(try field.text("pin", limit: 1)), changed: changed)
            case .part:
                parts.append(ClipContents.Part(try field.type(), Data(try field.bytes())))
                guard parts.count <= ClipContents.partLimit else { throw .damaged("too many parts") }
            case .stub: stub = try field.stub()
            }
        }

        private static func pin(_ text: String) throws(ItemFormatError) -> PinState.Pin? {
            switch text {
            case "": return nil
            case " ": return .unlettered
            default:
                guard let letter = text.first.flatMap(PinLetter.init) else { throw .damaged("invalid pin") }
                return .letter(letter)
            }
        }

        func item() throws(ItemFormatError) -> ClipItem {
            guard let times else { throw .damaged("no times") }
            guard let device else { throw .damaged("no device") }
            guard stub == nil || parts.isEmpty else { throw .damaged("both contents and a stub") }
            guard stub != nil || !parts.isEmpty else { throw .damaged("no contents") }
            return ClipItem(
                body: stub.map(Body.stub) ?? .contents(ClipContents(parts)),
                origin: Origin(device: device, application: application, title: title),
                firstCopied: times.first, lastCopied: times.last, counts: counts, pin: pin)
        }
    }
}

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
