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

extension PinState.Pin {
    var letter: PinLetter? {
        guard case .letter(let letter) = self else { return nil }
        return letter
    }
}
