import Essentials

extension JSONCursor.Text {
    /// The bytes without escapes, for JSON that is the text of a string. A lone surrogate becomes U+FFFD, as programs
    /// write half of a character where they cut a text.
    var unescaped: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count, let base = bytes.baseAddress {
            guard let hit = memchr(base + index, 0x5C, bytes.count - index) else { break }
            let backslash = UnsafeRawPointer(base).distance(to: UnsafeRawPointer(hit))
            result += bytes[index..<backslash]
            guard backslash + 1 < bytes.count else { return result }
            index = backslash + 2
            switch bytes[backslash + 1] {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "u"): result += Array(String(scalar(at: &index)).utf8)
            case let byte: result.append(byte)
            }
        }
        return result + bytes[min(index, bytes.count)...]
    }

    /// The character whose digits begin at `index`, which goes to their end.
    private func scalar(at index: inout Int) -> Unicode.Scalar {
        guard let high = unit(at: index) else { return "\u{FFFD}" }
        index += 4
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, index + 1 < bytes.count, bytes[index] == 0x5C,
            bytes[index + 1] == UInt8(ascii: "u"), let low = unit(at: index + 2),
            (0xDC00...0xDFFF).contains(low)
        else { return "\u{FFFD}" }
        index += 6
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private func unit(at index: Int) -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
