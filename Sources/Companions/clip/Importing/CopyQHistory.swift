import Crypto
import Essentials
import LocalFiles

/// The history of CopyQ: the file of a tab, or an export of several.
///
/// A tab is the number of its items and then each of them, the newest first: `serializeData` and `deserializeDataV2` in
/// src/item/serialize.cpp of github.com/hluk/CopyQ. An export is "CopyQ v4", a map with the names of tabs and with
/// settings, then a map with name and data of each tab: `exportDataV4` in src/gui/mainwindow.cpp. The pin is the type
/// of plugins/itempinned/itempinned.cpp. No times are noted.
enum CopyQHistory {
    private static let fileByteLimit = 256 << 20
    private static let prefix = "application/x-copyq-"
    private static let pin = prefix + "item-pinned"
    /// The most items of a tab: `MAX_ITEMS` in CopyQ.
    private static let itemLimit: Int32 = 100_000
    private static let typeLimit: Int32 = 1_024

    /// What the digit stands for at the beginning of a type: `idToMime`.
    private static let typePrefixes = [
        0: "", 1: prefix + "owner-window-title", 2: prefix + "item-notes", 3: prefix, 4: "text/plain", 5: "text/html",
        6: "text/uri-list", 7: "image/", 8: "text/", 9: "application/", 10: "audio/", 11: "video/",
    ]

    static func read(_ path: String) throws -> ImportedItems {
        guard let content = try LocalFile(path).read(byteLimit: fileByteLimit) else { throw ImportError.missing(path) }
        do {
            var items = ImportedItems()
            var stream = QtDataStream(content.data)
            // A file of a tab begins otherwise.
            if let header = try? stream.byteArray(), header.starts(with: "CopyQ v".utf8) {
                guard header.elementsEqual("CopyQ v4".utf8) else {
                    throw ImportError(path: path, reason: "an export of another version; pass the file of a tab")
                }
                _ = try stream.map()
                while !stream.isAtEnd {
                    if let tab = try stream.map()["data"] { try add(tab, to: &items) }
                }
            } else {
                try add(content.data, to: &items)
            }
            return items
        } catch is QtDataStream.Damage {
            throw ImportError(
                path: path,
                reason: "neither a tab nor an export of CopyQ, damaged, or an encrypted tab; "
                    + "pass a file that CopyQ has exported")
        }
    }

    private static func add(_ tab: Data, to items: inout ImportedItems) throws(QtDataStream.Damage) {
        var stream = QtDataStream(tab)
        let count = try stream.number(Int32.self)
        guard (0...itemLimit).contains(count) else { throw QtDataStream.Damage() }
        for _ in 0..<count {
            switch try stream.number(Int32.self) {
            case -2:
                if let item = try item(&stream) {
                    items.append(item)
                } else {
                    items.skip("its data file is missing or cannot be read")
                }
            case -3:
                _ = try stream.number(Int32.self)
                _ = try stream.byteArray()
                items.skip("encrypted by CopyQ")
            case let types where types >= 0:
                for _ in 0..<types {
                    _ = try stream.string()
                    _ = try stream.byteArray()
                }
                items.skip("stored by an old version of CopyQ; let a newer one save it")
            default: throw QtDataStream.Damage()
            }
        }
    }

    /// Nil when all of its data are missing.
    private static func item(_ stream: inout QtDataStream) throws(QtDataStream.Damage) -> ImportedItem? {
        let count = try stream.number(Int32.self)
        guard (0...typeLimit).contains(count) else { throw QtDataStream.Damage() }
        var offer = Offer([])
        var isMissing = false
        var rest = ImportedItems.itemByteLimit
        for _ in 0..<count {
            var type = try stream.string()
            guard let digit = type.first?.hexDigitValue, let prefix = typePrefixes[digit] else {
                throw QtDataStream.Damage()
            }
            type = prefix + type.dropFirst()
            let isCompressed = try stream.flag()
            var data = try stream.byteArray()
            if type.hasPrefix("FILE:") {
                type.removeFirst(5)
                guard let content = file(data, byteLimit: rest) else {
                    isMissing = true
                    offer.typeNames.append(type)
                    continue
                }
                data = content
                rest -= data.count
            }
            let isKnown = offer.typeNames.contains(type)
            offer.typeNames.append(type)
            guard !isCompressed, !isKnown else { continue }
            offer.data.append((type, data))
        }
        guard !isMissing || !offer.data.isEmpty else { return nil }
        return ImportedItem(offer: offer, pin: offer.typeNames.contains(pin) ? .unlettered : nil)
    }

    /// Large data are in files of their own (`dataFilePath`). The path may name any file: only one that has the name
    /// which CopyQ gives it for what is in it is taken.
    private static func file(_ path: Data, byteLimit: Int) -> Data? {
        let path = String(decoding: path, as: UTF8.self)
        guard path.hasPrefix("/"), path.utf8.count < 4_096,
            let data = try? LocalFile(path).read(byteLimit: byteLimit)?.data  // The item is counted as unread.
        else { return nil }
        let digest = SHA256.hash(data: Data("copyq_salt".utf8) + data).map { $0.hexadecimal(digits: 2) }
        let name = stride(from: 0, to: 32, by: 8).map { digest[$0..<($0 + 8)].joined() }.joined(separator: "/")
        return path.hasSuffix("/\(name).dat") ? data : nil
    }
}

/// Reads what `QDataStream` of Qt writes in version 4.7 (doc.qt.io, "Serializing Qt Data Types"): numbers have the most
/// significant byte first. No length is trusted: one that leads out of the bytes is `Damage`.
struct QtDataStream {
    struct Damage: Error {}

    private var rest: Data

    init(_ bytes: Data) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    private static let depthLimit = 16

    mutating func bytes(_ count: Int) throws(Damage) -> Data {
        guard count >= 0, count <= rest.count else { throw Damage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(Damage) -> Number {
        try bytes(MemoryLayout<Number>.size).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func flag() throws(Damage) -> Bool { try number(UInt8.self) != 0 }

    /// Empty also for a null array.
    mutating func byteArray() throws(Damage) -> Data {
        let count = try number(UInt32.self)
        return count == .max ? Data() : try bytes(Int(count))
    }

    mutating func string() throws(Damage) -> String {
        let bytes = try byteArray()
        guard bytes.count.isMultiple(of: 2) else { throw Damage() }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// The strings and byte arrays of a `QVariantMap`; other values are skipped.
    mutating func map(depth: Int = 0) throws(Damage) -> [String: Data] {
        var map: [String: Data] = [:]
        for _ in 0..<(try number(UInt32.self)) {
            let key = try string()
            map[key] = try variant(depth: depth + 1)
        }
        return map
    }

    /// A `QVariant` of the types that settings have, by the numbers of `QVariant::Type`; nil unless it is a string or a
    /// byte array.
    private mutating func variant(depth: Int) throws(Damage) -> Data? {
        guard depth < Self.depthLimit else { throw Damage() }
        let type = try number(UInt32.self)
        _ = try flag()
        switch type {
        // Invalid, with an empty string.
        case 0: _ = try string()
        case 1: _ = try flag()
        case 2, 3: _ = try bytes(4)
        case 4, 5, 6: _ = try bytes(8)
        case 8: _ = try map(depth: depth)
        case 9: for _ in 0..<(try number(UInt32.self)) { _ = try variant(depth: depth + 1) }
        case 10: return Data(try string().utf8)
        case 11: for _ in 0..<(try number(UInt32.self)) { _ = try string() }
        case 12: return try byteArray()
        default: throw Damage()
        }
        return nil
    }
}
