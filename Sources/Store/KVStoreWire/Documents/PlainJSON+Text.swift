import Essentials
package import KVStoreCore

/// For readers that do not need the types: dates are ISO 8601, data is base64, and a double without a JSON number is a
/// string. Keys are sorted.
extension PlainJSON {
    package static func compact(_ value: PropertyListValue) -> String { text(value, indent: nil) }

    /// One element per line, indented by two spaces per level.
    package static func indented(_ value: PropertyListValue) -> String { text(value, indent: "\n") }

    /// - Parameter indent: a line feed and the indentation of the value; nil without line breaks.
    private static func text(_ value: PropertyListValue, indent: String?) -> String {
        let inner = indent.map { $0 + "  " }
        func list(_ elements: [String], _ opening: String, _ closing: String) -> String {
            guard !elements.isEmpty, let indent, let inner else {
                return opening + elements.joined(separator: ",") + closing
            }
            return opening + inner + elements.joined(separator: "," + inner) + indent + closing
        }
        switch value {
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .unsigned(let number): return String(number)
        case .double(let number): return number.isFinite ? String(number) : "\"\(number)\""
        case .string(let string): return quoted(string)
        case .date(let date): return quoted(DateFormat.text(date))
        case .data(let data): return quoted(data.base64EncodedString())
        case .array(let values):
            return list(values.map { text($0, indent: inner) }, "[", "]")
        case .dictionary(let values):
            let colon = indent == nil ? ":" : ": "
            let pairs = values.sorted { $0.key < $1.key }.map { quoted($0.key) + colon + text($0.value, indent: inner) }
            return list(pairs, "{", "}")
        }
    }

    private static func quoted(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                text += "\\u" + scalar.value.hexadecimal(digits: 4)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
