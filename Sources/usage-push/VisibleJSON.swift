import Foundation

/// JSON for a terminal: the same document, with characters that are invisible or change the reading
/// direction written as `\u…`. JSON itself escapes control characters only up to U+001F.
enum VisibleJSON {
    static var prettyEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

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

    /// Such characters occur only inside strings, where an escape is equivalent; except the line
    /// feeds of a pretty-printed document.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" { return false }
        if scalar.properties.isDefaultIgnorableCodePoint { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
