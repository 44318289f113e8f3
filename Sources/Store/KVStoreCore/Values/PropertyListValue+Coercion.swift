import Essentials

// What the typed getters return for a value of another type.
extension PropertyListValue {
    /// A string, or a number's decimal text; `true` is "1".
    package var stringValue: String? {
        switch self {
        case .string(let value): value
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value): Self.decimalText(value)
        case .date, .data, .array, .dictionary: nil
        }
    }

    /// A number truncated toward zero, a string's leading integer, else 0. Out of range saturates.
    package var longLongValue: Int64 {
        switch self {
        case .integer(let value): value
        case .unsigned(let value): Int64(clamping: value)
        case .bool(let value): value ? 1 : 0
        case .double(let value): Self.truncated(value)
        case .string(let value): Self.leadingInteger(of: value)
        case .date, .data, .array, .dictionary: 0
        }
    }

    /// A number, a string's leading decimal number, else 0.
    package var doubleValue: Double {
        switch self {
        case .double(let value): value
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .bool(let value): value ? 1 : 0
        case .string(let value): Self.leadingDouble(of: value)
        case .date, .data, .array, .dictionary: 0
        }
    }

    /// A number other than 0; "YES", "Y" or "true" in any case; a string's leading integer other than 0.
    package var boolValue: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let value): value != 0
        case .unsigned(let value): value != 0
        case .double(let value): value != 0
        case .string(let value):
            ["yes", "y", "true"].contains(value.lowercased()) || Self.leadingInteger(of: value) != 0
        case .date, .data, .array, .dictionary: false
        }
    }

    private static func decimalText(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return "\(value)"
    }

    private static func truncated(_ value: Double) -> Int64 {
        if value.isNaN { return 0 }
        if value >= 0x1p63 { return .max }
        if value <= -0x1p63 { return .min }
        return Int64(value)
    }

    private static func leadingInteger(of text: String) -> Int64 {
        var rest = trimmedStart(of: text)
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        var value: Int64 = 0
        for byte in rest {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            let digit = Int64(byte - UInt8(ascii: "0"))
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (next, carry) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || carry { return isNegative ? .min : .max }
            value = next
        }
        return value
    }

    private static func leadingDouble(of text: String) -> Double {
        let rest = trimmedStart(of: text).prefix(400)
        var end = rest.startIndex
        func skipDigits() -> Bool {
            let start = end
            while end < rest.endIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(rest[end]) {
                end = rest.index(after: end)
            }
            return end > start
        }
        func skip(_ characters: String) -> Bool {
            guard end < rest.endIndex, characters.utf8.contains(rest[end]) else { return false }
            end = rest.index(after: end)
            return true
        }
        _ = skip("+-")
        let hasWhole = skipDigits()
        let beforePoint = end
        if skip("."), !skipDigits(), !hasWhole { end = beforePoint }
        let mantissaEnd = end
        if skip("eE") {
            _ = skip("+-")
            if !skipDigits() { end = mantissaEnd }
        }
        return Double(String(decoding: rest[rest.startIndex..<end], as: UTF8.self)) ?? 0
    }

    private static func trimmedStart(of text: String) -> Substring.UTF8View {
        text.utf8[...].drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }
}
