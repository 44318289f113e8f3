import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials
import TerminalText

/// A form in which the value of a key is shown.
enum StoredValueForm: Sendable, CaseIterable {
    case json, text, hexadecimal, propertyList

    private static let hexadecimalByteCount = 16_384

    var title: String {
        switch self {
        case .json: "JSON"
        case .text: "text"
        case .hexadecimal: "hex"
        case .propertyList: "property list, with types"
        }
    }

    /// Escaped lines. What a form cannot show is shown in another.
    ///
    /// - Parameter bytes: as they are stored: a binary property list, or anything.
    func lines(of bytes: Data) -> [String] {
        let value = (try? PropertyListValue(encoded: bytes)) ?? .data(bytes)  // What has no form is shown as bytes.
        switch self {
        case .json:
            return VisibleText.escapedLines(PlainJSON.indented(Self.structured(value) ?? value), limit: .max)
        case .text:
            switch value {
            case .string(let text): return VisibleText.escapedLines(text, limit: .max)
            case .data(let data):
                guard let text = String(validating: data, as: UTF8.self) else {
                    return Self.hexadecimal.lines(of: bytes)
                }
                return VisibleText.escapedLines(text, limit: .max)
            default: return VisibleText.escapedLines(PlainJSON.compact(value), limit: .max)
            }
        case .hexadecimal:
            let rest = bytes.count - Self.hexadecimalByteCount
            return HexDump.lines(bytes.prefix(Self.hexadecimalByteCount)) + (rest > 0 ? ["… \(rest) more bytes"] : [])
        case .propertyList:
            let json = try? JSONOutput.data(StoredValue(bytes), isIndented: true)  // What has no form is shown as text.
            return VisibleText.escapedLines(
                String(decoding: json ?? Data(), as: UTF8.self).trimmed(where: \.isNewline), limit: .max)
        }
    }

    /// The JSON that a string or data holds.
    private static func structured(_ value: PropertyListValue) -> PropertyListValue? {
        switch value {
        case .string(let text): try? PlainJSON.value(Data(text.utf8))  // What is no JSON is text.
        case .data(let data): try? PlainJSON.value(data)  // What is no JSON is bytes.
        default: nil
        }
    }
}
