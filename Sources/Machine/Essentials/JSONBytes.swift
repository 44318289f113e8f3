/// Walks the bytes of a JSON text (RFC 8259), as far as needed to tell where its values end. What reads or checks a
/// text that is there as a whole stands on it.
///
///     var bytes = JSONBytes(text)
///     var depth = 0
///     while true {
///         switch bytes.next() {
///         case 0: return depth == 0
///         case UInt8(ascii: "\""):
///             guard bytes.string() != nil else { return false }
///             continue
///         case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
///         case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
///         default: break
///         }
///         bytes.advance()
///     }
///
/// Nothing is validated, copied or kept, and depth is the caller's to bound. Control characters are white space here,
/// zeros among them (`hasZero` finds those). The text must outlive it.
///
/// Public, although only this package has it: the compiler inlines into other modules only what is, and with calls for
/// every byte and value cold reading of logs takes an eighth longer.
public struct JSONBytes {
    @usableFromInline var address: UnsafePointer<UInt8>
    public let end: UnsafePointer<UInt8>

    /// Where the next byte is; `end` at the end.
    @inlinable public var position: UnsafePointer<UInt8> { address }

    @inlinable @inline(__always)
    public init(_ text: UnsafeRawBufferPointer) {
        let bytes = text.assumingMemoryBound(to: UInt8.self)
        address = bytes.baseAddress ?? UnsafePointer(bitPattern: 1)!
        end = address + text.count
    }

    /// Whether a text has a zero byte: then it is UTF-16 or UTF-32, in which no structure can be seen, or no JSON.
    public static func hasZero(_ text: UnsafeRawBufferPointer) -> Bool {
        text.baseAddress.map { memchr($0, 0, text.count) != nil } ?? false
    }

    /// The next byte that is not white space, which it goes to; 0 at the end.
    @inlinable @inline(__always)
    public mutating func next() -> UInt8 {
        while address < end {
            let byte = address.pointee
            if byte > 0x20 { return byte }
            address += 1
        }
        return 0
    }

    /// Passes over bytes that are there.
    @inlinable @inline(__always)
    public mutating func advance(by count: Int = 1) { address += count }

    /// Goes to the end.
    @inlinable @inline(__always)
    public mutating func finish() { address = end }

    /// Passes over a string whose opening quote is the next byte. Returns its bytes between the quotes, or nil without
    /// a closing one.
    public mutating func string() -> UnsafeBufferPointer<UInt8>? {
        let start = address + 1
        var from = start
        while let quote = nextQuote(from) {
            var backslash = quote
            while backslash > start, backslash[-1] == 0x5C { backslash -= 1 }
            if (quote - backslash) & 1 == 0 {
                address = quote + 1
                return UnsafeBufferPointer(start: start, count: quote - start)
            }
            from = quote + 1
        }
        return nil
    }

    /// Most strings are short, and the search of the C library pays only beyond: until then eight bytes at a time, of
    /// which a quote becomes 0, and the first 0 is the first to have its highest bit set.
    @inline(__always)
    private func nextQuote(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
        var from = start
        let near = min(end - 8, start + 24)
        while from <= near {
            let word = UnsafeRawPointer(from).loadUnaligned(as: UInt64.self).littleEndian
            let other = word ^ 0x2222_2222_2222_2222
            let zeros = (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080
            if zeros != 0 { return from + (zeros.trailingZeroBitCount >> 3) }
            from += 8
        }
        guard from < end, let hit = memchr(from, 0x22, end - from) else { return nil }
        return UnsafePointer(hit.assumingMemoryBound(to: UInt8.self))
    }

    /// Passes over a number or a literal, or what stands in place of one.
    @inlinable @inline(__always)
    public mutating func skipPlain() {
        while address < end, !Self.endsPlain(address.pointee) { address += 1 }
    }

    /// Whether no number or literal has this byte.
    @inlinable @inline(__always)
    public static func endsPlain(_ byte: UInt8) -> Bool {
        byte == 0x2C || byte == 0x7D || byte == 0x5D || byte <= 0x20 || byte == 0x3A || byte == 0x22 || byte == 0x7B
            || byte == 0x5B
    }
}
