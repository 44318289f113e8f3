/// A 64-bit hash that is the same on every machine and in every run: for ids in caches.
///
/// Eight bytes at a time, each folded into the state by a multiplication of 64 by 64 bits, as wyhash does. Not for
/// secrets, and not against an adversary who chooses the bytes.
struct ContentHash {
    private var state: UInt64

    init(seed: UInt64 = 0) { state = seed ^ 0x9E37_79B9_7F4A_7C15 }

    /// Never 0.
    var value: UInt64 { max(Self.fold(state, 0xE703_7ED1_A0B4_28DB), 1) }

    mutating func add(_ word: UInt64) {
        state = Self.fold(state ^ word, 0xA076_1D64_78BD_642F)
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        // The length keeps a text apart from one that goes on with zeros.
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        var shift: UInt64 = 0
        while offset < bytes.count {
            last |= UInt64(bytes[offset]) << shift
            shift += 8
            offset += 1
        }
        add(last)
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    mutating func add(_ text: JSONCursor.Text) { add(UnsafeRawBufferPointer(text.bytes)) }

    mutating func add(_ counts: TokenCounts) {
        for count in [
            counts.input, counts.output, counts.reasoning, counts.cacheRead, counts.cacheWrite5m, counts.cacheWrite1h,
        ] { add(UInt64(bitPattern: Int64(count))) }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = ContentHash()
        hash.add(bytes)
        return hash.value
    }

    static func of(_ texts: String...) -> UInt64 {
        var hash = ContentHash()
        for text in texts { hash.add(text) }
        return hash.value
    }

    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
