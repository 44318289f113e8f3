import Essentials

/// The file by which a desktop knows a program (freedesktop.org, Desktop Entry Specification 1.5).
enum DesktopEntry {
    /// The bundle name of the app for Apple's systems, so that a desktop shows one handler for both.
    static let identifier = "com.airmail2hookmark.airmail-scheme.desktop"
    /// The type that stands for a scheme.
    static func type(ofScheme scheme: String) -> String { "x-scheme-handler/" + scheme }

    /// The entry of a program that opens `airmail:` links; nil if no entry can name its path.
    static func text(program: String) -> String? {
        guard let word = quote(program) else { return nil }
        return """
            [Desktop Entry]
            Type=Application
            Name=Open Airmail links
            Comment=Open airmail: links with Hookmark, a mail client or a command
            Exec=\(word) open -- %u
            Terminal=false
            NoDisplay=true
            MimeType=\(type(ofScheme: AirmailLink.scheme));

            """
    }

    /// A word of `Exec`. `xdg-mime` does not find the program of a quoted one; quotes are only for those that need
    /// them: escaped as a quoted argument, and that as a string.
    private static func quote(_ word: String) -> String? {
        if word.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }) { return word }
        var result = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\"", "`", "$": result += "\\\\"
            case "\\": result += "\\\\\\"
            case "%": result += "%"
            case _ where scalar.properties.generalCategory == .control: return nil
            default: break
            }
            result.unicodeScalars.append(scalar)
        }
        return "\"" + result + "\""
    }

    /// The name that an entry shows; nil if it has none.
    static func name(in text: String) -> String? { value(of: "Name", in: text) }

    /// The program that an entry starts, a path or a name; nil if it starts none.
    static func program(in text: String) -> String? {
        guard let line = value(of: "Exec", in: text) else { return nil }
        var result = String.UnicodeScalarView()
        var (isQuoted, isEscaped) = (false, false)
        for scalar in line.unicodeScalars {
            if isEscaped {
                isEscaped = false
                result.append(scalar)
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == " ", !isQuoted {
                break
            } else {
                result.append(scalar)
            }
        }
        return result.isEmpty ? nil : String(result).replacing("%%", with: "%")
    }

    private static func value(of key: String, in text: String) -> String? {
        KeyFile(text).values(of: key, inGroup: "Desktop Entry").first?.replacing("\\\\", with: "\\")
    }
}

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
