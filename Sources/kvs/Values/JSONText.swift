import Foundation
import KVStore

/// A property list as JSON text for people and programs that do not mind types: dates are ISO 8601, data is
/// base64, and a double without a JSON number is a text. Keys are sorted.
enum JSONText {
    static func compact(_ value: PropertyListValue) -> String {
        var text = ""
        write(value, into: &text, indent: nil)
        return text
    }

    /// With line feeds and two spaces for each level.
    static func indented(_ value: PropertyListValue) -> String {
        var text = ""
        write(value, into: &text, indent: 0)
        return text
    }

    private static func write(_ value: PropertyListValue, into text: inout String, indent: Int?) {
        switch value {
        case .bool(let flag): text += flag ? "true" : "false"
        case .integer(let number): text += String(number)
        case .double(let number): text += number.isFinite ? String(number) : "\"\(number)\""
        case .string(let string): quote(string, into: &text)
        case .date(let date): quote(DateText.text(date), into: &text)
        case .data(let data): quote(data.base64EncodedString(), into: &text)
        case .array(let values):
            list(values, "[", "]", into: &text, indent) { value, text, indent in
                write(value, into: &text, indent: indent)
            }
        case .dictionary(let values):
            let pairs = values.sorted { $0.key < $1.key }
            list(pairs, "{", "}", into: &text, indent) { pair, text, indent in
                quote(pair.key, into: &text)
                text += indent == nil ? ":" : ": "
                write(pair.value, into: &text, indent: indent)
            }
        }
    }

    private static func list<Element>(
        _ elements: [Element], _ opening: String, _ closing: String, into text: inout String,
        _ indent: Int?, _ each: (Element, inout String, Int?) -> Void
    ) {
        text += opening
        let inner = indent.map { $0 + 1 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            newLine(inner, into: &text)
            each(element, &text, inner)
        }
        if !elements.isEmpty { newLine(indent, into: &text) }
        text += closing
    }

    private static func newLine(_ indent: Int?, into text: inout String) {
        guard let indent else { return }
        text += "\n" + String(repeating: "  ", count: indent)
    }

    private static func quote(_ string: String, into text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
