package import KVStoreCore

extension PropertyListValue {
    /// The first 40 characters of the value as text; the length of data. Equal for equal values.
    package var summary: String {
        if case .string(let text) = self { return "\"\(text.abbreviated)\"" }
        var text = ""
        write(to: &text)
        return text.abbreviated
    }

    /// Stops when the text is longer than its abbreviation.
    private func write(to text: inout String) {
        guard text.isShort else { return }
        switch self {
        case .bool(let value): text += "\(value)"
        case .integer(let value): text += "\(value)"
        case .unsigned(let value): text += "\(value)"
        case .double(let value): text += "\(value)"
        case .string(let value): text += "\"\(value.abbreviated)\""
        case .date(let value): text += "\(value)"
        case .data(let value): text += "\(value.count) bytes"
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() where text.isShort {
                if index > 0 { text += ", " }
                value.write(to: &text)
            }
            text += "]"
        case .dictionary(let values):
            text += values.isEmpty ? "[:" : "["
            for (index, key) in values.keys.sorted().enumerated() where text.isShort {
                text += "\(index > 0 ? ", " : "")\"\(key.abbreviated)\": "
                values[key]?.write(to: &text)
            }
            text += "]"
        }
    }
}

extension String {
    /// Whether an abbreviation may need more of it.
    fileprivate var isShort: Bool { utf8.count <= 4 * 40 }

    /// By Unicode scalars, because a character has any number of them.
    fileprivate var abbreviated: String {
        let start = unicodeScalars.prefix(40)
        return start.endIndex < endIndex ? "\(String(start))…" : self
    }
}
