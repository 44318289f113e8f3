/// Makes text from outside safe to print: nothing in it can move the cursor, change the colour,
/// reverse the reading order or hide.
package enum VisibleText {
    /// Most combining marks kept on one character; more would paint over other lines.
    static let combiningMarksKept = 4

    /// `text` with every dangerous character written as `\u{…}`.
    ///
    /// Escaped are control characters (C0 with tab and newline, DEL, C1), format characters
    /// (bidirectional, zero width, tags), line and paragraph separators, everything that is
    /// invisible by default, private use and unassigned characters, and U+FFFD, which stands for
    /// bytes that were no text. Variation selectors 15 and 16 only choose a glyph: they are left
    /// out, so that a character has one width. The result has no line breaks.
    package static func escape(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var result = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars {
            if scalar.value == 0xFE0E || scalar.value == 0xFE0F { continue }
            marks = isMark(scalar) ? marks + 1 : 0
            if needsEscape(scalar) || marks > combiningMarksKept {
                let hex = String(scalar.value, radix: 16, uppercase: true)
                result.append(contentsOf: "\\u{\(hex)}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// `text` escaped line by line, for text that may have several. At most `limit` lines.
    package static func escapedLines(_ text: String, limit: Int) -> [String] {
        text.split(maxSplits: max(0, limit), omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n"
        }
        .prefix(limit)
        .map { escape(String($0)) }
    }

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0xFFFD || scalar.properties.isDefaultIgnorableCodePoint { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            true
        default:
            false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }
}
