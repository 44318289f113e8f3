import Essentials
import KVStoreWire
import KVStoreEssentials
import TerminalText

/// A value as escaped lines for a terminal.
enum ReadableValue {
    private static let hexByteCount = 256

    /// Strings and data that contain a JSON object or array are formatted as such.
    static func lines(_ value: PropertyListValue) -> [String] {
        let text: String? =
            switch value {
            case .string(let text): structured(Data(text.utf8)).map(PlainJSON.indented) ?? text
            case .data(let data): structured(data).map(PlainJSON.indented)
            case .array, .dictionary: PlainJSON.indented(value)
            default: value.rawText
            }
        guard let text else { return hexadecimal(value.rawBytes) }
        return VisibleText.escapedLines(text, limit: .max)
    }

    private static func structured(_ data: Data) -> PropertyListValue? {
        guard let first = data.first(where: { !" \t\r\n".utf8.contains($0) }),
            "{[".utf8.contains(first)
        else { return nil }
        return try? PlainJSON.parse(data)  // Any other text is shown as it is.
    }

    private static func hexadecimal(_ data: Data) -> [String] {
        if data.isEmpty { return ["(no bytes)"] }
        let lines = HexDump.lines(data.prefix(hexByteCount))
        guard data.count > hexByteCount else { return lines }
        return lines + ["… \(data.count) bytes in all; --raw prints them unchanged"]
    }
}

extension PropertyListValue {
    /// The value for files and pipes: data unchanged, anything else as UTF-8 text without a trailing newline.
    var rawBytes: Data {
        if case .data(let data) = self { data } else { Data((rawText ?? "").utf8) }
    }

    /// Nil for data.
    fileprivate var rawText: String? {
        switch self {
        case .string(let text): text
        case .double(let number): String(number)
        case .date(let date): DateFormat.text(date)
        case .data: nil
        case .integer, .unsigned, .bool, .array, .dictionary: PlainJSON.compact(self)
        }
    }
}
