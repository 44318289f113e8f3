import Essentials
import KVStoreCore

/// Reads a binary message from front to back, with every length checked against the bytes that are left. Errors name
/// the field and never quote its bytes.
package struct BinaryReader {
    private let bytes: UnsafeRawBufferPointer
    private let listLimit: Int
    private var offset = 0
    /// The element being read.
    private var element: (list: StaticString, index: Int)?

    init(_ bytes: UnsafeRawBufferPointer, listLimit: Int) {
        self.bytes = bytes
        self.listLimit = listLimit
    }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, _ field: StaticString
    ) throws(WireError) -> Number {
        bytes.littleEndian(type, at: try take(MemoryLayout<Number>.size, field).lowerBound)
    }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        in range: ClosedRange<Number>, _ field: StaticString
    ) throws(WireError) -> Number {
        let number = try number(Number.self, field)
        guard range.contains(number) else { throw invalid(field) }
        return number
    }

    /// A byte with no other bits than `known`.
    mutating func flags(_ field: StaticString, known: UInt8) throws(WireError) -> UInt8 {
        let flags = try number(UInt8.self, field)
        guard flags & ~known == 0 else { throw invalid(field) }
        return flags
    }

    mutating func cursor(_ field: StaticString) throws(WireError) -> SyncCursor {
        let cursor = bytes.cursor(at: try take(16, field).lowerBound)
        guard WireNumber.sequence.contains(cursor.sequence) else { throw invalid(field) }
        return cursor
    }

    mutating func stamp(_ field: StaticString) throws(WireError) -> StoreStamp {
        let start = try take(20, field).lowerBound
        guard bytes.littleEndian(UInt64.self, at: start) >> 48 == 0 else { throw invalid(field) }
        return bytes.stamp(at: start)
    }

    mutating func key(_ byteCount: UInt32, _ field: StaticString) throws(WireError) -> StoreKey {
        guard let key = bytes.key(try take(Int(byteCount), field)) else { throw invalid(field) }
        return key
    }

    mutating func data(_ byteCount: UInt32, _ field: StaticString) throws(WireError) -> Data {
        Data(UnsafeRawBufferPointer(rebasing: bytes[try take(Int(byteCount), field)]))
    }

    /// A count, and as many elements of at least `leastByteCount` bytes.
    mutating func list<Element>(
        _ name: StaticString, leastByteCount: Int, _ read: (inout BinaryReader) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        let count = Int(try number(UInt32.self, name))
        guard count <= (bytes.count - offset) / leastByteCount else { throw incomplete(name) }
        guard count <= listLimit else { throw .listTooLong(limit: listLimit) }
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for index in 0..<count {
            element = (name, index)
            elements.append(try read(&self))
        }
        element = nil
        return elements
    }

    func finish() throws(WireError) {
        guard offset == bytes.count else {
            throw .malformed("\(bytes.count - offset) bytes follow the message")
        }
    }

    private mutating func take(_ byteCount: Int, _ field: StaticString) throws(WireError) -> Range<Int> {
        guard byteCount <= bytes.count - offset else { throw incomplete(field) }
        defer { offset += byteCount }
        return offset..<offset + byteCount
    }

    private func incomplete(_ field: StaticString) -> WireError {
        .malformed("\(path(field)) is incomplete")
    }

    func invalid(_ field: StaticString) -> WireError { .malformed("\(path(field)) is invalid") }

    private func path(_ field: StaticString) -> String {
        element.map { "\($0.list)[\($0.index)].\(field)" } ?? "\(field)"
    }
}
