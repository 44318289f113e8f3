import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials

/// Values from command-line text or bytes.
enum ValueParsing {
    static func value(_ bytes: Data, as form: ValueForm) throws(CommandFailure) -> PropertyListValue {
        switch form {
        case .data: return .data(bytes)
        case .json: return try PlainJSON.parse(bytes)
        default: break
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.usage, "the input is not UTF-8 text; store raw bytes with --type data")
        }
        // The final newline of a file or pipe is not part of a number.
        return try value(form == .string ? text : text.trimmed(where: \.isNewline), as: form)
    }

    static func value(_ text: String, as form: ValueForm) throws(CommandFailure) -> PropertyListValue {
        let (value, expected): (PropertyListValue?, String) =
            switch form {
            case .string: (.string(text), "a string")
            case .integer:
                (
                    Int64(text).map { PropertyListValue.integer($0) }
                        ?? UInt64(text).map { PropertyListValue.whole($0) },
                    "a 64-bit integer"
                )
            case .double: (Double(text).flatMap { $0.isFinite ? .double($0) : nil }, "a finite number")
            case .bool: (bool(text).map { .bool($0) }, "true or false")
            case .date: (DateFormat.date(text).map { .date($0) }, "a date such as 2026-09-18T12:00:00Z or 2026-09-18")
            case .data:
                (Data(base64Encoded: text).map { .data($0) }, "base64; to store raw bytes use --data-file or --stdin")
            case .json: (try PlainJSON.parse(Data(text.utf8)), "JSON")
            }
        guard let value else {
            let shown = text.isEmpty ? "an empty string" : "'\(text.prefix(60))'"
            throw CommandFailure(.usage, "\(shown) is not \(expected)")
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
}

extension PlainJSON {
    /// JSON from the command line: what cannot be stored is a usage error.
    static func parse(_ data: Data) throws(CommandFailure) -> PropertyListValue {
        try CommandFailure.ending(.usage) { () throws(DocumentError) in try value(data) }
    }
}
