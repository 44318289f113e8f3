import Foundation

/// What one pass over the bytes tells before a parser may recurse into them.
enum JSONShape {
    case acceptable
    case tooDeep
    /// Holds a zero byte: UTF-16 or UTF-32, whose brackets this pass could not count.
    case notUTF8

    /// Counts open brackets outside strings. Does not check that the text is JSON.
    static func check(_ data: Data, depthLimit: Int) -> JSONShape {
        var depth = 0
        var inString = false
        var escaped = false
        for byte in data {
            if byte == 0 { return .notUTF8 }
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > depthLimit { return .tooDeep }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            default:
                break
            }
        }
        return .acceptable
    }
}
