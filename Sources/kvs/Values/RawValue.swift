import Foundation
import KVStore

/// A value as bytes and nothing else, for files and pipes.
enum RawValue {
    /// Data as it is and text as UTF-8; numbers, flags and dates as text; arrays and dictionaries as JSON.
    /// No line feed is added.
    static func bytes(_ value: PropertyListValue) -> Data {
        switch value {
        case .data(let data): data
        default: Data(text(value).utf8)
        }
    }

    private static func text(_ value: PropertyListValue) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .bool(let flag): flag ? "true" : "false"
        case .date(let date): DateText.text(date)
        case .data(let data): data.base64EncodedString()
        case .array, .dictionary: JSONText.compact(value)
        }
    }
}
