import Foundation

/// Reads a JSON text front to back, once, without allocating: for logs with millions of lines.
///
///     guard cursor.enterObject() else { return }
///     while let key = cursor.nextKey() {
///         if key == "model" { model = cursor.text() } else { cursor.skip() }
///     }
///
/// After a key, and after `nextElement` has returned true, exactly one value is read: `enterObject`, `enterArray`, a
/// value of the type that is expected (nil, and the value skipped, for any other) or `skip`. A text that is not JSON
/// ends early with `isFailed`; what is not needed is skipped and not checked. Nesting costs no stack. The bytes must
/// outlive the cursor. What `TextStart` describes may precede the text.
struct JSONCursor {
    private var position: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>
    /// Whether the text ended in the middle of a value, or is not JSON.
    private(set) var isFailed = false
    /// Whether `count` has read something that is neither a count nor null: a negative, fractional or too large number,
    /// or a value of another type. For the reader to clear where a record begins.
    var hasImpossibleCount = false

    /// - Parameter text: may begin with the zeros that a power cut left in a file, and with a byte order mark.
    init(_ text: UnsafeRawBufferPointer) {
        let bytes = text.assumingMemoryBound(to: UInt8.self)
        position = bytes.baseAddress ?? UnsafePointer(bitPattern: 1)!
        end = position + text.count
        if let first = text.first, first == 0xEF || first == 0 {
            position += TextStart.byteCount(of: text)
        }
    }

    /// Whether a text is one object and nothing else, and the bytes that were needed to tell.
    static func object(in text: UnsafeRawBufferPointer) -> (isWhole: Bool, byteCount: Int) {
        var cursor = JSONCursor(text)
        let start = cursor.position
        guard cursor.enterObject() else { return (false, cursor.position - start) }
        while cursor.nextKey() != nil { cursor.skip() }
        let isWhole = !cursor.isFailed && cursor.isAtEnd
        return (isWhole, cursor.position - start)
    }

    /// The bytes of a string between its quotes, or of a number. Valid as long as the cursor's text.
    struct Text {
        let bytes: UnsafeBufferPointer<UInt8>
        /// Whether it contains a backslash.
        var hasEscapes: Bool { memchr(bytes.baseAddress!, 0x5C, bytes.count) != nil }

        /// Whether it is written like this; an escaped spelling of the same text is different.
        static func == (left: Text, right: StaticString) -> Bool {
            left.bytes.count == right.utf8CodeUnitCount
                && memcmp(left.bytes.baseAddress!, right.utf8Start, left.bytes.count) == 0
        }

        static func != (left: Text, right: StaticString) -> Bool { !(left == right) }

        /// The text without escapes; nil when it is not UTF-8.
        var string: String? {
            hasEscapes ? String(validating: unescaped, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        }

        /// Like `string`, for texts of up to 120 characters that are shown.
        var displayText: String? {
            bytes.count <= 4_096 ? string?.displayText() : nil
        }

        var hash: UInt64 { ContentHash.of(UnsafeRawBufferPointer(bytes)) }
    }

    // MARK: Objects and arrays

    /// Whether the next value is an object, whose keys then come from `nextKey`.
    mutating func enterObject() -> Bool { enter(0x7B) }

    /// Whether the next value is an array, whose elements then begin with `nextElement`.
    mutating func enterArray() -> Bool { enter(0x5B) }

    private mutating func enter(_ opening: UInt8) -> Bool {
        guard next() == opening else {
            skip()
            return false
        }
        position += 1
        return true
    }

    /// The next key of the innermost object; nil after the last one.
    mutating func nextKey() -> Text? {
        var byte = next()
        if byte == 0x2C {
            position += 1
            byte = next()
        }
        if byte == 0x22, let key = string(), next() == 0x3A {
            position += 1
            return key
        }
        close(0x7D, byte)
        return nil
    }

    /// Whether the innermost array has another element, which is then read.
    mutating func nextElement() -> Bool {
        var byte = next()
        if byte == 0x2C {
            position += 1
            byte = next()
        }
        if byte != 0x5D, byte != 0, byte != 0x7D { return true }
        close(0x5D, byte)
        return false
    }

    private mutating func close(_ closing: UInt8, _ byte: UInt8) {
        if byte == closing, !isFailed { position += 1 } else { fail() }
    }

    // MARK: Values

    /// A string.
    mutating func text() -> Text? {
        guard next() == 0x22 else {
            skip()
            return nil
        }
        return string()
    }

    /// A whole number of 0 or more that fits; also one written as a string, or with a fraction of zero.
    mutating func count() -> Int? {
        let byte = next()
        guard let number = number() else {
            if byte != 0x6E { hasImpossibleCount = true }
            return nil
        }
        guard number >= 0, number < 0x1p62, let count = Int(exactly: number) else {
            hasImpossibleCount = true
            return nil
        }
        return count
    }

    /// A finite number, also one written as a string.
    mutating func number() -> Double? {
        let byte = next()
        if byte == 0x22 { return string().flatMap { Self.number($0.bytes) } }
        guard byte == 0x2D || (0x30...0x39).contains(byte) else {
            skip()
            return nil
        }
        let start = position
        var value = 0.0
        while position < end, position.pointee &- 0x30 < 10 {
            value = value * 10 + Double(position.pointee &- 0x30)
            position += 1
        }
        let digitCount = position - start
        if digitCount > 0, digitCount < 16, position == end || Self.endsNumber(position.pointee) {
            return value
        }
        position = start
        skip()
        return Self.number(UnsafeBufferPointer(start: start, count: position - start))
    }

    /// Reads a member of the next value, an object, and passes over the others.
    mutating func member<Value>(
        _ name: StaticString, _ read: (inout JSONCursor) -> Value?
    ) -> Value? {
        guard enterObject() else { return nil }
        var value: Value?
        while let key = nextKey() {
            if key == name { value = read(&self) } else { skip() }
        }
        return value
    }

    /// A cursor at the next value, which this one passes over.
    mutating func branch() -> JSONCursor {
        let branch = self
        skip()
        return branch
    }

    mutating func flag() -> Bool? {
        let byte = next()
        let isTrue = byte == 0x74
        skip()
        return isTrue || byte == 0x66 ? isTrue : nil
    }

    /// Milliseconds since 1970 of an ISO 8601 text, or of a number of seconds or, from 10¹¹ on, milliseconds; nil
    /// outside 2000 to 2100.
    mutating func milliseconds() -> Int64? {
        if next() == 0x22 {
            return string().flatMap { text in
                Timestamp.milliseconds(iso8601: text.bytes)
                    ?? Self.number(text.bytes).flatMap(Timestamp.milliseconds(unixTime:))
            }
        }
        return number().flatMap(Timestamp.milliseconds(unixTime:))
    }

    /// The bytes of the next value, whatever it is: a cursor over them reads it again.
    mutating func value() -> UnsafeRawBufferPointer {
        _ = next()
        let start = position
        skip()
        return UnsafeRawBufferPointer(start: start, count: position - start)
    }

    /// Passes over the next value.
    mutating func skip() {
        var depth = 0
        while true {
            switch next() {
            case 0x22: if string() == nil { return }
            case 0x7B, 0x5B:
                depth += 1
                position += 1
            case 0x7D, 0x5D:
                guard depth > 0 else { return fail() }
                depth -= 1
                position += 1
            case 0x2C, 0x3A:
                guard depth > 0 else { return fail() }
                position += 1
                continue
            case 0: return fail()
            default:
                while position < end, !Self.endsNumber(position.pointee) { position += 1 }
            }
            if depth == 0 { return }
        }
    }

    // MARK: Bytes

    private mutating func fail() {
        isFailed = true
        position = end
    }

    /// Whether only white space is left.
    var isAtEnd: Bool {
        mutating get { next() == 0 }
    }

    /// The next byte that is not white space, which it goes to; 0 at the end.
    private mutating func next() -> UInt8 {
        while position < end {
            let byte = position.pointee
            if byte > 0x20 { return byte }
            position += 1
        }
        return 0
    }

    private static func endsNumber(_ byte: UInt8) -> Bool {
        byte == 0x2C || byte == 0x7D || byte == 0x5D || byte <= 0x20 || byte == 0x3A
            || byte == 0x22 || byte == 0x7B || byte == 0x5B
    }

    /// Reads a string whose opening quote is the next byte.
    private mutating func string() -> Text? {
        let start = position + 1
        var from = start
        while let quote = nextQuote(from) {
            var backslash = quote
            while backslash > start, backslash[-1] == 0x5C { backslash -= 1 }
            if (quote - backslash) & 1 == 0 {
                position = quote + 1
                return Text(bytes: UnsafeBufferPointer(start: start, count: quote - start))
            }
            from = quote + 1
        }
        fail()
        return nil
    }

    /// Most strings are short, and the search of the C library pays only beyond: until then eight bytes at a time, of
    /// which a quote becomes 0, and the first 0 is the first to have its highest bit set.
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

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        guard bytes.count <= 64 else { return nil }
        return Double(String(decoding: bytes, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }
}
