/// Which bytes stand in a path of a URL as they are (RFC 3986, section 3.3).
enum URLCharacters {
    /// Encodes what may not stand there; `%` with two digits stays as it is.
    ///
    /// - Throws: `invalidURLConstruction` for control characters and for `%` without digits.
    static func encode(_ bytes: some Collection<UInt8>) throws(LinkError) -> String {
        var result = ""
        var digits = 0
        for byte in bytes {
            if digits > 0 {
                guard isHexadecimal(byte) else { throw .invalidURLConstruction(.malformedEncoding) }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else if byte < 0x20 || byte == 0x7F {
                throw .invalidURLConstruction(.controlCharacter)
            } else if !isAllowed(byte) {
                result += encoded(byte)
                continue
            }
            result.unicodeScalars.append(Unicode.Scalar(byte))
        }
        guard digits == 0 else { throw .invalidURLConstruction(.malformedEncoding) }
        return result
    }

    /// Encodes all of a text that may not stand there, `%` too.
    static func encodeAll(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isAllowed(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += encoded(byte)
            }
        }
    }

    /// The text that `encode` has returned; nil if it is not UTF-8.
    static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%"), let high = rest.next(), let low = rest.next() else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: [high, low], as: UTF8.self)
            guard let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func encoded(_ byte: UInt8) -> String {
        (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { isUnreserved(byte) || "!$&'()*+,;=:@/".utf8.contains(byte) }

    /// Letters, digits, `-`, `.`, `_` and `~` (section 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }
}
