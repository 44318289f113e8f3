public import Essentials

// The bytes of a value: Apple's binary property list, version "bplist00".
//
//     "bplist00", contiguous objects, table of their offsets, trailer of 32 bytes:
//     6 unused · offset size · object reference size · object count, top object, offset of the table (8 each)
//
// Objects are numbered in depth-first order: a container, then (for a dictionary) its keys, then its values. Equal
// strings, numbers, dates and data are written once. Keys are sorted by their UTF-8 bytes, so a value has exactly one
// encoding, and replicas compare values as bytes. Big-endian.
// Source of the format: CFBinaryPList.c in swift-corelibs-foundation.

/// Why bytes are not a property list that the store accepts.
///
/// ```swift
/// do throws(PropertyListError) {
///     print(try PropertyListValue(encoded: Data("{}".utf8)))
/// } catch {
///     print(error)    // invalid binary property list: …
/// }
/// ```
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    public var reason: String
    public var description: String { "invalid binary property list: \(reason)" }
}

extension PropertyListValue {
    /// The binary property list; equal values give equal bytes. Its length is the value's size.
    public func encoded() -> Data {
        var encoder = BinaryPropertyListEncoder()
        return encoder.encode(self)
    }

    /// Decodes a binary property list of any writer. Depth and number of objects are bounded, even if the bytes
    /// reference one object many times.
    public init(encoded data: Data) throws(PropertyListError) {
        var decoder = try BinaryPropertyListDecoder(data)
        self = try decoder.value(at: decoder.top, depth: 0)
    }
}

private struct BinaryPropertyListEncoder {
    private enum Node {
        case leaf(PropertyListValue)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var nodes: [Node] = []
    private var leaves: [Identity: Int] = [:]

    /// Leaves are the same if their bits and bytes are: NaN does not equal itself, -0 equals 0, and strings that differ
    /// only in Unicode composition are equal.
    private enum Identity: Hashable {
        case bool(Bool)
        case integer(Int64)
        case unsigned(UInt64)
        case double(UInt64)
        case date(UInt64)
        case string([UInt8])
        case data(Data)
    }

    mutating func encode(_ value: PropertyListValue) -> Data {
        _ = number(value)
        var bytes = Array("bplist00".utf8)
        let referenceSize = Self.byteCount(of: UInt64(nodes.count))
        var offsets: [Int] = []
        for node in nodes {
            offsets.append(bytes.count)
            write(node, referenceSize: referenceSize, to: &bytes)
        }
        let table = bytes.count
        let offsetSize = Self.byteCount(of: UInt64(table))
        for offset in offsets { Self.append(UInt64(offset), size: offsetSize, to: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [nodes.count, 0, table] { Self.append(UInt64(number), size: 8, to: &bytes) }
        return Data(bytes)
    }

    private mutating func number(_ value: PropertyListValue) -> Int {
        let index = nodes.count
        switch value {
        case .array(let values):
            nodes.append(.array([]))
            nodes[index] = .array(values.map { number($0) })
        case .dictionary(let values):
            nodes.append(.array([]))
            let pairs = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let keys = pairs.map { number(.string($0.key)) }
            nodes[index] = .dictionary(keys: keys, values: pairs.map { number($0.value) })
        case .bool(let leaf): return number(value, .bool(leaf))
        case .integer(let leaf): return number(value, .integer(leaf))
        case .unsigned(let leaf): return number(value, .unsigned(leaf))
        case .double(let leaf): return number(value, .double(leaf.bitPattern))
        case .date(let leaf): return number(value, .date(leaf.timeIntervalSinceReferenceDate.bitPattern))
        case .string(let leaf): return number(value, .string(Array(leaf.utf8)))
        case .data(let leaf): return number(value, .data(leaf))
        }
        return index
    }

    private mutating func number(_ leaf: PropertyListValue, _ identity: Identity) -> Int {
        if let known = leaves[identity] { return known }
        nodes.append(.leaf(leaf))
        leaves[identity] = nodes.count - 1
        return nodes.count - 1
    }

    private func write(_ node: Node, referenceSize: Int, to bytes: inout [UInt8]) {
        switch node {
        case .array(let items):
            Self.appendHead(0xA0, count: items.count, to: &bytes)
            for item in items { Self.append(UInt64(item), size: referenceSize, to: &bytes) }
        case .dictionary(let keys, let values):
            Self.appendHead(0xD0, count: keys.count, to: &bytes)
            for item in keys + values {
                Self.append(UInt64(item), size: referenceSize, to: &bytes)
            }
        case .leaf(.bool(let value)): bytes.append(value ? 0x09 : 0x08)
        case .leaf(.integer(let value)): Self.append(integer: value, to: &bytes)
        case .leaf(.unsigned(let value)):
            if let value = Int64(exactly: value) {
                Self.append(integer: value, to: &bytes)
            } else {
                // As Foundation writes it: eight bytes would be a negative number.
                bytes.append(0x14)
                Self.append(0, size: 8, to: &bytes)
                Self.append(value, size: 8, to: &bytes)
            }
        case .leaf(.double(let value)):
            bytes.append(0x23)
            Self.append(value.bitPattern, size: 8, to: &bytes)
        case .leaf(.date(let value)):
            bytes.append(0x33)
            Self.append(value.timeIntervalSinceReferenceDate.bitPattern, size: 8, to: &bytes)
        case .leaf(.data(let value)):
            Self.appendHead(0x40, count: value.count, to: &bytes)
            bytes.append(contentsOf: value)
        case .leaf(.string(let value)):
            if value.utf8.allSatisfy({ $0 < 0x80 }) {
                Self.appendHead(0x50, count: value.utf8.count, to: &bytes)
                bytes.append(contentsOf: value.utf8)
            } else {
                Self.appendHead(0x60, count: value.utf16.count, to: &bytes)
                for unit in value.utf16 { Self.append(UInt64(unit), size: 2, to: &bytes) }
            }
        case .leaf(.array), .leaf(.dictionary): preconditionFailure("containers are not leaves")
        }
    }

    private static func append(integer value: Int64, to bytes: inout [UInt8]) {
        let size = value < 0 ? 8 : byteCount(of: UInt64(value))
        bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
        append(UInt64(bitPattern: value), size: size, to: &bytes)
    }

    private static func appendHead(_ kind: UInt8, count: Int, to bytes: inout [UInt8]) {
        if count < 15 {
            bytes.append(kind | UInt8(count))
        } else {
            bytes.append(kind | 0x0F)
            append(integer: Int64(count), to: &bytes)
        }
    }

    private static func append(_ value: UInt64, size: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    private static func byteCount(of value: UInt64) -> Int {
        switch value {
        case 0...0xFF: 1
        case 0...0xFFFF: 2
        case 0...0xFFFF_FFFF: 4
        default: 8
        }
    }
}

private struct BinaryPropertyListDecoder {
    let top: Int
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let table: Int
    /// The remaining number of visits, so that shared references cannot expand without bound.
    private var visitsLeft = WireLimits.propertyListObjectCount
    private var contentLeft: Int
    /// Strings and data that have been decoded: a writer stores equal ones once, however often they occur.
    private var leaves: [Int: PropertyListValue] = [:]

    init(_ data: Data) throws(PropertyListError) {
        bytes = Array(data)
        contentLeft = 4 * bytes.count + 65_536
        guard bytes.count >= 8 + 1 + 1 + 32, bytes.starts(with: "bplist00".utf8) else {
            throw Self.fault("missing header or truncated")
        }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw Self.fault("invalid sizes in the trailer")
        }
        objectCount = try Self.field(bytes, trailer + 8)
        top = try Self.field(bytes, trailer + 16)
        table = try Self.field(bytes, trailer + 24)
        guard top < objectCount, table >= 9, table <= trailer,
            objectCount <= (trailer - table) / offsetSize
        else { throw Self.fault("the offset table is out of bounds") }
    }

    mutating func value(at object: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
        guard depth <= WireLimits.propertyListDepth else { throw Self.fault("nested too deeply") }
        visitsLeft -= 1
        guard visitsLeft >= 0 else { throw Self.fault("too many objects") }
        guard object < objectCount else { throw Self.fault("a reference to a missing object") }
        if let known = leaves[object] { return known }
        let offset = try number(at: table + object * offsetSize, size: offsetSize, end: bytes.count)
        guard offset >= 8, offset < UInt64(table) else {
            throw Self.fault("an object out of bounds")
        }
        var position = Int(offset)
        let marker = bytes[position]
        position += 1
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09: return .bool(marker == 0x09)
        case 0x1 where low <= 4: return try integer(at: position, size: 1 << low)
        case 0x2 where low == 3: return .double(Double(bitPattern: try number(at: position, size: 8, end: table)))
        case 0x2 where low == 2:
            let bits = UInt32(try number(at: position, size: 4, end: table))
            return .double(Double(Float(bitPattern: bits)))
        case 0x3 where low == 3:
            let seconds = Double(bitPattern: try number(at: position, size: 8, end: table))
            guard seconds.isFinite else { throw Self.fault("a non-finite date") }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case 0x4:
            let range = try content(low, position: &position, unit: 1)
            return remember(.data(Data(bytes[range])), object)
        case 0x5:
            let range = try content(low, position: &position, unit: 1)
            guard bytes[range].allSatisfy({ $0 < 0x80 }) else { throw Self.fault("not ASCII") }
            return remember(.string(String(decoding: bytes[range], as: UTF8.self)), object)
        case 0x6:
            let range = try content(low, position: &position, unit: 2)
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return remember(.string(String(decoding: units, as: UTF16.self)), object)
        case 0xA:
            let range = try content(low, position: &position, unit: referenceSize)
            var values: [PropertyListValue] = []
            for index in 0..<range.count / referenceSize {
                values.append(try reference(range.lowerBound, index, depth: depth))
            }
            return .array(values)
        case 0xD:
            let range = try content(low, position: &position, unit: 2 * referenceSize)
            let count = range.count / (2 * referenceSize)
            var values: [String: PropertyListValue] = [:]
            for index in 0..<count {
                guard case .string(let key) = try reference(range.lowerBound, index, depth: depth)
                else { throw Self.fault("a key that is not a string") }
                values[key] = try reference(range.lowerBound, count + index, depth: depth)
            }
            return .dictionary(values)
        default: throw Self.fault("an object of unknown type")
        }
    }

    private mutating func remember(_ leaf: PropertyListValue, _ object: Int) -> PropertyListValue {
        leaves[object] = leaf
        return leaf
    }

    private mutating func reference(
        _ start: Int, _ index: Int, depth: Int
    ) throws(PropertyListError) -> PropertyListValue {
        let object = try number(at: start + index * referenceSize, size: referenceSize, end: table)
        guard object < UInt64(objectCount) else {
            throw Self.fault("a reference to a missing object")
        }
        return try value(at: Int(object), depth: depth + 1)
    }

    /// The range of an object's content; reads its length first.
    private mutating func content(_ low: Int, position: inout Int, unit: Int) throws(PropertyListError) -> Range<Int> {
        var count = low
        if low == 0x0F {
            guard position < table, bytes[position] >> 4 == 0x1, bytes[position] & 0x0F <= 3 else {
                throw Self.fault("a length that is not an integer")
            }
            let size = 1 << Int(bytes[position] & 0x0F)
            let value = try number(at: position + 1, size: size, end: table)
            guard value <= UInt64(bytes.count) else { throw Self.fault("a length out of bounds") }
            count = Int(value)
            position += 1 + size
        }
        guard count <= (table - position) / unit, position <= table else {
            throw Self.fault("a length out of bounds")
        }
        contentLeft -= count * unit
        guard contentLeft >= 0 else { throw Self.fault("repeated references expand too far") }
        return position..<position + count * unit
    }

    private func integer(at position: Int, size: Int) throws(PropertyListError) -> PropertyListValue {
        guard size == 16 else {
            let value = try number(at: position, size: size, end: table)
            return .integer(size == 8 ? Int64(bitPattern: value) : Int64(value))
        }
        let high = try number(at: position, size: 8, end: table)
        let low = try number(at: position + 8, size: 8, end: table)
        guard high == 0 else { throw Self.fault("an integer over 64 bits") }
        return .whole(low)
    }

    private func number(at position: Int, size: Int, end: Int) throws(PropertyListError) -> UInt64 {
        guard position >= 0, size <= 8, position + size <= end else {
            throw Self.fault("a number beyond the end")
        }
        var value: UInt64 = 0
        for byte in bytes[position..<position + size] { value = value << 8 | UInt64(byte) }
        return value
    }

    private static func field(_ bytes: [UInt8], _ offset: Int) throws(PropertyListError) -> Int {
        var value: UInt64 = 0
        for byte in bytes[offset..<offset + 8] { value = value << 8 | UInt64(byte) }
        guard value <= UInt64(bytes.count) else { throw fault("a position outside of it") }
        return Int(value)
    }

    private static func fault(_ reason: String) -> PropertyListError {
        PropertyListError(reason: reason)
    }
}
