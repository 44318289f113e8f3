import CommandSupport
import Foundation
import KVStore

/// Values from command-line text or bytes.
enum ValueParsing {
    static func value(_ bytes: Data, as type: ValueType) throws(CommandFailure) -> PropertyListValue
    {
        if type == .data { return .data(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(
                .usage, "the input is not UTF-8 text; store raw bytes with --type data")
        }
        // The final newline of a file or pipe is not part of a number.
        return try value(
            type == .string ? text : text.trimmingCharacters(in: .newlines), as: type)
    }

    static func value(_ text: String, as type: ValueType) throws(CommandFailure)
        -> PropertyListValue
    {
        let value: PropertyListValue? =
            switch type {
            case .string: .string(text)
            case .integer: Int64(text).map { .integer($0) }
            case .double: Double(text).flatMap { $0.isFinite ? .double($0) : nil }
            case .bool: bool(text).map { .bool($0) }
            case .date: DateFormat.date(text).map { .date($0) }
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .array, .dictionary: try PlainJSON.parse(Data(text.utf8))
            }
        guard let value, ValueType(value) == type else {
            let shown = text.isEmpty ? "an empty string" : "'\(text.prefix(60))'"
            throw CommandFailure(.usage, "\(shown) is not \(form(of: type))")
        }
        return value
    }

    private static func bool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }

    private static func form(of type: ValueType) -> String {
        switch type {
        case .string: "a string"
        case .integer: "a 64-bit integer"
        case .double: "a finite number"
        case .bool: "true or false"
        case .date: "a date such as 2026-09-18T12:00:00Z or 2026-09-18"
        case .data: "base64; to store raw bytes use --data-file or --stdin"
        case .array: "a JSON array"
        case .dictionary: "a JSON object"
        }
    }
}
