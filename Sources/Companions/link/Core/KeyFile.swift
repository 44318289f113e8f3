import Essentials

/// Text of groups with keys and values, as desktops keep their settings. Any text is one.
struct KeyFile: Sendable {
    private let lines: [Substring]

    init(_ text: String) {
        lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }

    private static func group(_ line: Substring) -> Substring? {
        line.hasPrefix("[") && line.hasSuffix("]") ? line.dropFirst().dropLast() : nil
    }

    /// The values of all lines with the key in a group, in their order.
    func values(of key: String, inGroup group: String) -> [String] {
        var isInside = false
        var values: [String] = []
        for line in lines {
            if let name = Self.group(line) {
                isInside = name == group
            } else if isInside, let value = Self.value(of: key, line) {
                values.append(value.trimmed())
            }
        }
        return values
    }

    /// The text without an element of the lists of a key; a list without elements is removed.
    func removing(_ element: String, from key: String) -> String {
        lines.compactMap { line -> String? in
            guard let value = Self.value(of: key, line) else { return String(line) }
            let elements = value.split(separator: ";").map { String($0).trimmed() }
            guard elements.contains(element) else { return String(line) }
            let rest = elements.filter { $0 != element }
            return rest.isEmpty ? nil : key + "=" + rest.map { $0 + ";" }.joined()
        }
        .joined(separator: "\n")
    }

    private static func value(of key: String, _ line: Substring) -> String? {
        guard line.hasPrefix(key) else { return nil }
        let rest = line.dropFirst(key.count).drop { $0 == " " }
        return rest.first == "=" ? String(rest.dropFirst()) : nil
    }
}
