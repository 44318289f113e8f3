import Essentials

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
