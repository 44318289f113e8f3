import Essentials

/// Bytes as text.
package enum HexDump {
    /// Sixteen bytes per line, with their offset and their ASCII characters.
    package static func lines(_ bytes: some Collection<UInt8>) -> [String] {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count, by: 16).map { offset in
            let row = bytes[offset..<min(offset + 16, bytes.count)]
            let digits = row.map { $0.hexadecimal(digits: 2) }.joined(separator: " ")
            let text = row.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }
            return offset.hexadecimal(digits: 8) + "  " + digits.padded(toCells: 47) + "  "
                + String(decoding: text, as: UTF8.self)
        }
    }
}
