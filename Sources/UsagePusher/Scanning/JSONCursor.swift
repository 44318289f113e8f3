import Essentials

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
    private var bytes: JSONBytes
    /// Whether the text ended in the middle of a value, or is not JSON.
    private(set) var isFailed = false
    /// Whether `count` has read something that is neither a count nor null: a negative, fractional or too large number,
    /// or a value of another type. For the reader to clear where a record begins.
    var hasImpossibleCount = false

    /// - Parameter text: may begin with the zeros that a power cut left in a file, and with a byte order mark.
    init(_ text: UnsafeRawBufferPointer) {
        bytes = JSONBytes(text)
        if let first = text.first, first == 0xEF || first == 0 {
            bytes.advance(by: TextStart.byteCount(of: text))
        }
    }

    /// Whether a text is one object and nothing else, and the bytes that were needed to tell.
    static func object(in text: UnsafeRawBufferPointer) -> (isWhole: Bool, byteCount: Int) {
        var cursor = JSONCursor(text)
        let start = cursor.bytes.position
        guard cursor.enterObject() else { return (false, cursor.bytes.position - start) }
        while cursor.nextKey() != nil { cursor.skip() }
        let isWhole = !cursor.isFailed && cursor.isAtEnd
        return (isWhole, cursor.bytes.position - start)
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

        /// What `switch` asks.
        static func ~= (pattern: StaticString, text: Text) -> Bool { text == pattern }

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
        guard bytes.next() == opening else {
            skip()
            return false
        }
        bytes.advance()
        return true
    }

    /// The next key of the innermost object; nil after the last one.
    mutating func nextKey() -> Text? {
        var byte = bytes.next()
        if byte == 0x2C {
            bytes.advance()
            byte = bytes.next()
        }
        if byte == 0x22, let key = string(), bytes.next() == 0x3A {
            bytes.advance()
            return key
        }
        close(0x7D, byte)
        return nil
    }

    /// Whether the innermost array has another element, which is then read.
    mutating func nextElement() -> Bool {
        var byte = bytes.next()
        if byte == 0x2C {
            bytes.advance()
            byte = bytes.next()
        }
        if byte != 0x5D, byte != 0, byte != 0x7D { return true }
        close(0x5D, byte)
        return false
    }

    private mutating func close(_ closing: UInt8, _ byte: UInt8) {
        if byte == closing, !isFailed { bytes.advance() } else { fail() }
    }

    // MARK: Values

    /// A string.
    mutating func text() -> Text? {
        guard bytes.next() == 0x22 else {
            skip()
            return nil
        }
        return string()
    }

    /// A whole number of 0 or more that fits; also one written as a string, or with a fraction of zero.
    mutating func count() -> Int? {
        let byte = bytes.next()
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
        let byte = bytes.next()
        if byte == 0x22 { return string().flatMap { Self.number($0.bytes) } }
        guard byte == 0x2D || (0x30...0x39).contains(byte) else {
            skip()
            return nil
        }
        let start = bytes.position
        var digit = start
        var value = 0.0
        while digit < bytes.end, digit.pointee &- 0x30 < 10 {
            value = value * 10 + Double(digit.pointee &- 0x30)
            digit += 1
        }
        let digitCount = digit - start
        if digitCount > 0, digitCount < 16, digit == bytes.end || JSONBytes.endsPlain(digit.pointee) {
            bytes.advance(by: digitCount)
            return value
        }
        bytes.skipPlain()
        return Self.number(UnsafeBufferPointer(start: start, count: bytes.position - start))
    }

    /// Reads a member of the next value, an object, and passes over the others.
    mutating func member<Value>(_ name: StaticString, _ read: (inout JSONCursor) -> Value?) -> Value? {
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
        let byte = bytes.next()
        let isTrue = byte == 0x74
        skip()
        return isTrue || byte == 0x66 ? isTrue : nil
    }

    /// Milliseconds since 1970 of an ISO 8601 text, or of a number of seconds or, from 10¹¹ on, milliseconds; nil
    /// outside 2000 to 2100.
    mutating func milliseconds() -> Int64? {
        if bytes.next() == 0x22 {
            return string().flatMap { text in
                Timestamp.milliseconds(iso8601: text.bytes)
                    ?? Self.number(text.bytes).flatMap(Timestamp.milliseconds(unixTime:))
            }
        }
        return number().flatMap(Timestamp.milliseconds(unixTime:))
    }

    /// The bytes of the next value, whatever it is: a cursor over them reads it again.
    mutating func value() -> UnsafeRawBufferPointer {
        _ = bytes.next()
        let start = bytes.position
        skip()
        return UnsafeRawBufferPointer(start: start, count: bytes.position - start)
    }

    /// Passes over the next value.
    mutating func skip() {
        var depth = 0
        while true {
            switch bytes.next() {
            case 0x22: if string() == nil { return }
            case 0x7B, 0x5B:
                depth += 1
                bytes.advance()
            case 0x7D, 0x5D:
                guard depth > 0 else { return fail() }
                depth -= 1
                bytes.advance()
            case 0x2C, 0x3A:
                guard depth > 0 else { return fail() }
                bytes.advance()
                continue
            case 0: return fail()
            default:
                bytes.skipPlain()
            }
            if depth == 0 { return }
        }
    }

    // MARK: Bytes

    private mutating func fail() {
        isFailed = true
        bytes.finish()
    }

    /// Whether only white space is left.
    var isAtEnd: Bool {
        mutating get { bytes.next() == 0 }
    }

    /// Reads a string whose opening quote is the next byte.
    private mutating func string() -> Text? {
        guard let string = bytes.string() else {
            fail()
            return nil
        }
        return Text(bytes: string)
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        guard bytes.count <= 64 else { return nil }
        return Double(String(decoding: bytes, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }
}
