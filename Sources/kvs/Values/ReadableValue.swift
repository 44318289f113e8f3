import Foundation
import KVStore
import TerminalText

/// A value as lines that a person reads on a terminal; nothing in them can act on it.
enum ReadableValue {
    static let hexByteCount = 256

    /// Text and data that hold a JSON object or array are laid out as such.
    static func lines(_ value: PropertyListValue) -> [String] {
        switch value {
        case .string(let text):
            return escaped(structured(Data(text.utf8)).map(JSONText.indented) ?? text)
        case .data(let data):
            if let inner = structured(data) { return escaped(JSONText.indented(inner)) }
            return hexadecimal(data)
        case .array, .dictionary: return escaped(JSONText.indented(value))
        default: return escaped(String(decoding: RawValue.bytes(value), as: UTF8.self))
        }
    }

    private static func structured(_ data: Data) -> PropertyListValue? {
        guard let first = data.first(where: { !" \t\r\n".utf8.contains($0) }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        return try? PlainJSON.parse(data)
    }

    private static func escaped(_ text: String) -> [String] {
        VisibleText.escapedLines(text, limit: .max)
    }

    /// Sixteen bytes a line, with their place, and as text where they are ASCII.
    private static func hexadecimal(_ data: Data) -> [String] {
        let shown = [UInt8](data.prefix(hexByteCount))
        var lines = stride(from: 0, to: shown.count, by: 16).map { start in
            let row = shown[start..<min(start + 16, shown.count)]
            let digits = row.map { pad(String($0, radix: 16), to: 2) }.joined(separator: " ")
            let text = String(
                decoding: row.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") },
                as: UTF8.self)
            return pad(String(start, radix: 16), to: 8) + "  "
                + digits.padding(toLength: 47, withPad: " ", startingAt: 0) + "  " + text
        }
        if data.count > shown.count {
            lines.append("… \(data.count) bytes in all; --raw prints them as they are")
        } else if data.isEmpty {
            lines.append("(no bytes)")
        }
        return lines
    }

    private static func pad(_ digits: String, to width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
