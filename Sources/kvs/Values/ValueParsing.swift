import CommandSupport
import Foundation
import KVStore

/// Values from the text of a command line or from bytes.
enum ValueParsing {
    static func value(_ bytes: Data, as type: ValueType) throws(CommandFailure) -> PropertyListValue
    {
        if type == .data { return .data(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(
                .usage, "these bytes are not UTF-8 text; store them as they are with --type data")
        }
        // Files and pipes end in a line feed that nobody means to be part of a number.
        let isExact = type == .string || type == .array || type == .dictionary
        return try value(isExact ? text : text.trimmingCharacters(in: .newlines), as: type)
    }

    static func value(_ text: String, as type: ValueType) throws(CommandFailure)
        -> PropertyListValue
    {
        let value: PropertyListValue? =
            switch type {
            case .string: .string(text)
            case .integer: Int64(text).map { .integer($0) }
            case .double: double(text).map { .double($0) }
            case .bool: bool(text).map { .bool($0) }
            case .date: DateText.date(text).map { .date($0) }
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .array, .dictionary: try json(text, type)
            }
        guard let value else {
            throw CommandFailure(.usage, "\(shown(text)) is not \(form(of: type))")
        }
        return value
    }

    private static func json(
        _ text: String, _ type: ValueType
    ) throws(CommandFailure) -> PropertyListValue? {
        let value = try PlainJSON.parse(Data(text.utf8))
        return ValueType(value) == type ? value : nil
    }

    private static func double(_ text: String) -> Double? {
        guard let number = Double(text), number.isFinite else { return nil }
        return number
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
        case .string: "text"
        case .integer: "an integer of 64 bits"
        case .double: "a number"
        case .bool: "true or false"
        case .date: "a date like 2026-09-18T12:00:00Z or 2026-09-18"
        case .data: "base64; give bytes with --data-file or --stdin"
        case .array: "a JSON array"
        case .dictionary: "a JSON object"
        }
    }

    private static func shown(_ text: String) -> String {
        text.count > 60 ? "\(text.prefix(60))…" : text.isEmpty ? "an empty text" : text
    }
}
