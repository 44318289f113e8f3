/// Percent-encoding of path segments and query values (RFC 3986) that preserves every byte.
///
/// Foundation's decoder drops a leading byte order mark, so that `%EF%BB%BFabc` would be the key `abc`.
package enum PercentEncoding {
    /// Encodes the bytes of the text's UTF-8 that are not kept, with upper-case digits.
    package static func encode(_ text: String, keeping isKept: (UInt8) -> Bool = isUnreserved) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if isKept(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Encodes the path of a file; its slashes are kept.
    package static func encode(path: String) -> String {
        encode(path) { $0 == UInt8(ascii: "/") || isUnreserved($0) }
    }

    /// Decodes a path segment or query value; `+` stands for itself. Nil for a `%` without two hexadecimal digits
    /// and for bytes that are not UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
