// Text for terminals: escaping, width in cells, color, tables, durations, QR codes. Not here:
// writing it (Commands) and what is said (the programs).

/// Makes untrusted text safe to print: nothing in it can move the cursor, change the color, reverse the reading
/// order or hide.
package enum VisibleText {
    /// Combining marks kept on one character; more would paint over other lines.
    static let combiningMarksKept = 4

    /// The text with every dangerous character written as `\u{…}`.
    ///
    /// Escaped are control characters (C0 including tab and newline, DEL, C1), format characters (bidirectional,
    /// zero width, tags), line and paragraph separators, default-ignorable, private use and unassigned characters,
    /// and U+FFFD, which replaces invalid bytes. Variation selectors 15 and 16, which only choose a glyph, are
    /// removed so that every character has one width. The result has no line breaks.
    package static func escape(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var result = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars {
            if scalar.value == 0xFE0E || scalar.value == 0xFE0F { continue }
            marks = scalar.isMark ? marks + 1 : 0
            if needsEscape(scalar) || marks > combiningMarksKept {
                let hex = String(scalar.value, radix: 16, uppercase: true)
                result.append(contentsOf: "\\u{\(hex)}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether a text is one line within its limit of which nothing has to be escaped.
    package static func isLine(_ text: String, byteLimit: Int) -> Bool {
        (1...byteLimit).contains(text.utf8.count) && escape(text) == text
    }

    /// The first `limit` lines of a text, each escaped.
    package static func escapedLines(_ text: String, limit: Int) -> [String] {
        text.split(maxSplits: max(0, limit), omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n"
        }
        .prefix(limit)
        .map { escape(String($0)) }
    }

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        if isHidden(scalar) || scalar.value == 0xFFFD { return true }
        return switch scalar.properties.generalCategory {
        case .privateUse, .unassigned, .surrogate: true
        default: false
        }
    }

    /// Whether a character is invisible or controls the terminal, the line or the reading direction.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isDefaultIgnorableCodePoint { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
