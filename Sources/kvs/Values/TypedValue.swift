import Foundation
import KVStore

/// A value as JSON that says its type, so that reading it gives the same value:
/// `{"type": "integer", "value": 5}`.
///
/// Data is base64. A date is ISO 8601, or the seconds since 2001-01-01T00:00:00Z as a number where the text would
/// lose some. A double that JSON has no number for is the text `nan`, `inf` or `-inf`. Elements of arrays
/// and dictionaries have this form too.
struct TypedValue: Codable, Equatable {
    var value: PropertyListValue

    init(_ value: PropertyListValue) { self.value = value }

    enum CodingKeys: String, CodingKey { case type, value }

    init(from decoder: any Decoder) throws {
        try self.init(from: decoder.container(keyedBy: CodingKeys.self))
    }

    init(from container: KeyedDecodingContainer<CodingKeys>) throws {
        switch try container.decode(ValueType.self, forKey: .type) {
        case .string: value = .string(try container.decode(String.self, forKey: .value))
        case .integer: value = .integer(try container.decode(Int64.self, forKey: .value))
        case .double: value = .double(try Self.double(container))
        case .bool: value = .bool(try container.decode(Bool.self, forKey: .value))
        case .date: value = .date(try Self.date(container))
        case .data: value = .data(try container.decode(Data.self, forKey: .value))
        case .array:
            let parts = try container.decode([TypedValue].self, forKey: .value)
            value = .array(parts.map(\.value))
        case .dictionary:
            let parts = try container.decode([String: TypedValue].self, forKey: .value)
            value = .dictionary(parts.mapValues(\.value))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try encode(to: &container)
    }

    func encode(to container: inout KeyedEncodingContainer<CodingKeys>) throws {
        try container.encode(ValueType(value), forKey: .type)
        switch value {
        case .string(let text): try container.encode(text, forKey: .value)
        case .integer(let number): try container.encode(number, forKey: .value)
        case .double(let number) where number.isFinite:
            try container.encode(number, forKey: .value)
        case .double(let number):
            try container.encode(
                number.isNaN ? "nan" : number > 0 ? "inf" : "-inf", forKey: .value)
        case .bool(let flag): try container.encode(flag, forKey: .value)
        case .date(let date):
            if let text = DateText.exactText(date) {
                try container.encode(text, forKey: .value)
            } else {
                try container.encode(date.timeIntervalSinceReferenceDate, forKey: .value)
            }
        case .data(let data): try container.encode(data, forKey: .value)
        case .array(let values): try container.encode(values.map(TypedValue.init), forKey: .value)
        case .dictionary(let values):
            try container.encode(values.mapValues(TypedValue.init), forKey: .value)
        }
    }

    private static func double(_ container: KeyedDecodingContainer<CodingKeys>) throws -> Double {
        guard let text = try? container.decode(String.self, forKey: .value) else {
            return try container.decode(Double.self, forKey: .value)
        }
        switch text {
        case "nan": return .nan
        case "inf": return .infinity
        case "-inf": return -.infinity
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .value, in: container, debugDescription: "not a double")
        }
    }

    private static func date(_ container: KeyedDecodingContainer<CodingKeys>) throws -> Date {
        if let seconds = try? container.decode(Double.self, forKey: .value) {
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        guard let date = DateText.date(try container.decode(String.self, forKey: .value)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .value, in: container, debugDescription: "not a date")
        }
        return date
    }
}
