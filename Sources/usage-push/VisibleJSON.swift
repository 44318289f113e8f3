import Foundation

/// JSON that may be shown on a terminal: the same document, with what is invisible or turns the
/// reading order written as `\u…`. JSON itself escapes control characters only up to U+001F.
enum VisibleJSON {
    static func text(_ data: Data) -> String {
        var result = String.UnicodeScalarView()
        for scalar in String(decoding: data, as: UTF8.self).unicodeScalars {
            if isHidden(scalar) {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    let zeros = String(repeating: "0", count: 4 - digits.count)
                    result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
                }
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Such characters stand only inside strings, where an escape means the same. The line feed of
    /// a document on several lines stays.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" { return false }
        if scalar.properties.isDefaultIgnorableCodePoint { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
