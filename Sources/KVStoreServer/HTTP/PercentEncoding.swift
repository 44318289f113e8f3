/// Percent-encoding (RFC 3986, section 2.1).
enum PercentEncoding {
    /// The text that a path segment stands for, byte for byte: nothing is normalized or dropped.
    /// Nil when a percent sign is not followed by two hexadecimal digits, when a byte outside of
    /// ASCII is not encoded, or when the bytes are not UTF-8.
    static func decode(_ segment: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = segment.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = digit(rest.next()), let low = digit(rest.next()) else {
                    return nil
                }
                bytes.append(UInt8(high << 4 | low))
            case ..<0x80: bytes.append(byte)
            default: return nil
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8?) -> Int? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }
    }
}
