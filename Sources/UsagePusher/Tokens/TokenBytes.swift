/// Writes numbers and texts one after the other.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ word: UInt64) {
        withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    mutating func add(byte: UInt8) { bytes.append(byte) }
    mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

    mutating func add(text: String) { add(list: Array(text.utf8)) }

    /// A number of which most are small, in LEB128.
    mutating func add(varint number: Int) {
        var rest = UInt64(bitPattern: Int64(number))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// - Parameter list: of values without references.
    mutating func add<Value: BitwiseCopyable>(list: [Value]) {
        add(list.count)
        list.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }
}

/// Reads what `ByteWriter` has written. Beyond the end everything is 0 and empty.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private(set) var isFailed = false

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Says that what was read cannot be right.
    mutating func fail() { isFailed = true }

    mutating func byte() -> UInt8 {
        guard offset < bytes.count else {
            isFailed = true
            return 0
        }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func word() -> UInt64 {
        guard bytes.count - offset >= 8 else {
            isFailed = true
            return 0
        }
        defer { offset += 8 }
        return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// A number of things that are still to come.
    mutating func count() -> Int {
        let count = word()
        guard count <= UInt64(bytes.count) else {
            isFailed = true
            return 0
        }
        return Int(count)
    }

    /// A number of things that are still to come, each of at least a byte.
    mutating func varcount() -> Int {
        let count = varint()
        guard (0...bytes.count).contains(count) else {
            isFailed = true
            return 0
        }
        return count
    }

    mutating func varint() -> Int {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 64 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int(truncatingIfNeeded: value) }
            shift += 7
        }
        isFailed = true
        return 0
    }

    mutating func text() -> String { String(decoding: list() as [UInt8], as: UTF8.self) }

    mutating func list<Value: BitwiseCopyable>() -> [Value] {
        let count = count()
        let byteCount = count * MemoryLayout<Value>.stride
        guard byteCount <= bytes.count - offset else {
            isFailed = true
            return []
        }
        let start = offset
        offset += byteCount
        return [Value](unsafeUninitializedCapacity: count) { buffer, filled in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]))
            filled = count
        }
    }
}
