import Foundation

/// A binary property list, of which one value is looked up. The rest is not read: its objects may contain each other, so that
/// a small one takes `PropertyListSerialization` for ever.
struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let root: Int
    private let table: Int

    private static let magic = Array("bplist00".utf8)
    private static let trailerByteCount = 32

    private struct Object {
        var type: UInt8
        /// Of bytes, elements or members.
        var count: Int
        var start: Int
    }

    private enum ObjectType {
        static let integer: UInt8 = 1
        static let data: UInt8 = 4
        static let text: UInt8 = 5
        static let dictionary: UInt8 = 13
    }

    /// Nil when it is none. Format: magic, objects, a table of their offsets, and at the end the sizes and the root's number.
    init?(_ data: Data) {
        bytes = Array(data)
        let trailer = bytes.count - Self.trailerByteCount
        guard trailer >= Self.magic.count, bytes.starts(with: Self.magic) else { return nil }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard let count = Self.integer(bytes, at: trailer + 8, size: 8), count <= bytes.count,
            let root = Self.integer(bytes, at: trailer + 16, size: 8),
            let table = Self.integer(bytes, at: trailer + 24, size: 8), table < trailer
        else { return nil }
        (objectCount, self.root, self.table) = (count, root, table)
    }

    /// The data at the end of a path of member names.
    func data(at path: String...) -> Data? {
        var number: Int? = root
        for name in path { number = number.flatMap { member(name, of: $0) } }
        guard let object = number.flatMap(object), object.type == ObjectType.data else {
            return nil
        }
        return slice(object).map { Data($0) }
    }

    private func member(_ name: String, of number: Int) -> Int? {
        guard let dictionary = object(number), dictionary.type == ObjectType.dictionary else {
            return nil
        }
        func reference(_ index: Int) -> Int? {
            Self.integer(
                bytes, at: dictionary.start + index * referenceSize, size: referenceSize)
        }
        let index = (0..<dictionary.count).first { index in
            guard let key = reference(index).flatMap(object), key.type == ObjectType.text else {
                return false
            }
            return slice(key)?.elementsEqual(name.utf8) ?? false
        }
        return index.flatMap { reference(dictionary.count + $0) }
    }

    private func slice(_ object: Object) -> ArraySlice<UInt8>? {
        object.count <= bytes.count - object.start
            ? bytes[object.start..<object.start + object.count] : nil
    }

    private func object(_ number: Int) -> Object? {
        guard number < objectCount,
            let offset = Self.integer(bytes, at: table + number * offsetSize, size: offsetSize),
            offset < bytes.count
        else { return nil }
        let type = bytes[offset] >> 4
        let count = Int(bytes[offset] & 15)
        guard count == 15 else { return Object(type: type, count: count, start: offset + 1) }
        guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == ObjectType.integer else {
            return nil
        }
        let size = 1 << Int(bytes[offset + 1] & 15)
        guard let count = Self.integer(bytes, at: offset + 2, size: size), count <= bytes.count
        else { return nil }
        return Object(type: type, count: count, start: offset + 2 + size)
    }

    /// Big-endian; nil out of bounds, and for a number that no file is long enough for.
    private static func integer(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard (1...8).contains(size), offset >= 0, offset <= bytes.count - size else { return nil }
        let value = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }
}
