import Essentials
package import KVStoreCore

/// The types of a property list by the names that the command line and the documents use.
package enum ValueType: String, Codable {
    case string, integer, double, bool, date, data, array, dictionary

    package init(_ value: PropertyListValue) {
        self =
            switch value {
            case .string: .string
            case .integer: .integer
            case .double: .double
            case .bool: .bool
            case .date: .date
            case .data: .data
            case .array: .array
            case .dictionary: .dictionary
            }
    }
}

extension PropertyListValue {
    /// The size that counts in the quota.
    package var byteCount: Int { Record.Content.value(encoded()).quotaByteCount }

    /// With all elements of arrays and dictionaries.
    package var objectCount: Int {
        switch self {
        case .array(let values): values.reduce(1) { $0 + $1.objectCount }
        case .dictionary(let values): values.values.reduce(1) { $0 + $1.objectCount }
        default: 1
        }
    }
}

/// A value as JSON with its type, so that decoding returns the same value: `{"type": "integer", "value": 5}`.
///
/// Data is base64. A date is ISO 8601, or the seconds since 2001-01-01T00:00:00Z as a number if the text would lose
/// precision. A double without a JSON number is `"nan"`, `"inf"` or `"-inf"`. Elements of arrays and dictionaries
/// have this form too.
package struct TypedValue: Codable, Equatable {
    package var value: PropertyListValue

    package init(_ value: PropertyListValue) { self.value = value }

    private enum CodingKeys: String, CodingKey { case type, value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try container.decode(type, forKey: .value)
        }
        func invalid(_ description: String) -> DecodingError {
            .dataCorruptedError(forKey: .value, in: container, debugDescription: description)
        }
        switch try container.decode(ValueType.self, forKey: .type) {
        case .string: value = .string(try decode(String.self))
        case .integer: value = .integer(try decode(Int64.self))
        case .double:
            let text = try? decode(String.self)
            let number = try text == nil ? decode(Double.self) : Self.specialDoubles[text ?? ""]
            guard let number else { throw invalid("not a double") }
            value = .double(number)
        case .bool: value = .bool(try decode(Bool.self))
        case .date:
            let seconds = try? decode(Double.self)
            let date =
                try seconds.map(Date.init(timeIntervalSinceReferenceDate:))
                ?? DateFormat.date(decode(String.self))
            guard let date else { throw invalid("not a date") }
            value = .date(date)
        case .data: value = .data(try decode(Data.self))
        case .array: value = .array(try decode([TypedValue].self).map(\.value))
        case .dictionary:
            value = .dictionary(try decode([String: TypedValue].self).mapValues(\.value))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ValueType(value), forKey: .type)
        let encoded: any Encodable =
            switch value {
            case .string(let text): text
            case .integer(let number): number
            case .double(let number) where number.isFinite: number
            case .double(let number): number.isNaN ? "nan" : number > 0 ? "inf" : "-inf"
            case .bool(let flag): flag
            case .date(let date):
                DateFormat.exactText(date) as (any Encodable)?
                    ?? date.timeIntervalSinceReferenceDate
            case .data(let data): data
            case .array(let values): values.map(TypedValue.init)
            case .dictionary(let values): values.mapValues(TypedValue.init)
            }
        try container.encode(encoded, forKey: .value)
    }

    private static let specialDoubles: [String: Double] = [
        "nan": .nan, "inf": .infinity, "-inf": -.infinity,
    ]
}
