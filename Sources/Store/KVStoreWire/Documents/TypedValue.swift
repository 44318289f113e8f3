import Essentials
package import KVStoreCore

/// The types of a property list by the names that the command line and the documents use.
package enum ValueType: String, Codable {
    case string, integer, double, bool, date, data, array, dictionary

    package init(_ value: PropertyListValue) {
        self =
            switch value {
            case .string: .string
            case .integer, .unsigned: .integer
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
    package var byteCount: Int { StoreRecord.Content.value(encoded()).quotaByteCount }

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
/// Data is base64. A date is ISO 8601, or after the year 3997 a text of `DateFormat`, or the seconds since
/// 2001-01-01T00:00:00Z as a number if the text would lose precision. A double without a JSON number is `"nan"`,
/// `"inf"` or `"-inf"`. Elements of arrays and dictionaries have this form too.
package struct TypedValue: Codable, Equatable {
    package var value: PropertyListValue

    package init(_ value: PropertyListValue) { self.value = value }

    private enum CodingKeys: String, CodingKey { case type, value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func decode<Value: Decodable>(_ form: String) throws -> Value {
            try container.decode(forKey: .value, expecting: form)
        }
        func invalid(_ form: String) -> DecodingError {
            .expected(form, at: container.codingPath + [CodingKeys.value])
        }
        let types = "one of string, integer, double, bool, date, data, array and dictionary"
        switch try container.decode(ValueType.self, forKey: .type, expecting: types) {
        case .string: value = .string(try decode("a string"))
        case .integer:
            let signed = try? container.decode(Int64.self, forKey: .value)  // each form is tried
            value = try signed.map { .integer($0) } ?? .whole(decode("an integer of 64 bits"))
        case .double:
            let form = #"a number, "nan", "inf" or "-inf""#
            let text = try? container.decode(String.self, forKey: .value)  // each form is tried
            guard let text else {
                value = .double(try decode(form))
                return
            }
            guard let number = Self.specialDoubles[text] else { throw invalid(form) }
            value = .double(number)
        case .bool: value = .bool(try decode("true or false"))
        case .date:
            let seconds = try? container.decode(Double.self, forKey: .value)  // each form is tried
            if let seconds, abs(seconds) >= Self.greatestSeconds {
                throw invalid("\(Self.dateForm), and not milliseconds since 1970")
            }
            let date =
                try seconds.map(Date.init(timeIntervalSinceReferenceDate:)) ?? DateFormat.date(decode(Self.dateForm))
            guard let date else { throw invalid(Self.dateForm) }
            value = .date(date)
        case .data: value = .data(try decode("base64"))
        case .array:
            let values: [TypedValue] = try decode("an array of objects with type and value")
            value = .array(values.map(\.value))
        case .dictionary:
            let values: [String: TypedValue] = try decode("an object whose values are objects with type and value")
            value = .dictionary(values.mapValues(\.value))
        }
    }

    private static let dateForm =
        "a date such as 2026-09-18T12:00:00Z, or the seconds since 2001-01-01T00:00:00Z as a number"
    /// A greater number, beyond the year 5000, stands for milliseconds since a time after 1973. Such dates are written
    /// as text.
    private static let greatestSeconds = 1e11

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ValueType(value), forKey: .type)
        let encoded: any Encodable =
            switch value {
            case .string(let text): text
            case .integer(let number): number
            case .unsigned(let number): number
            case .double(let number) where number.isFinite: number
            case .double(let number): number.isNaN ? "nan" : number > 0 ? "inf" : "-inf"
            case .bool(let flag): flag
            case .date(let date): DateFormat.exactText(date) as (any Encodable)? ?? date.timeIntervalSinceReferenceDate
            case .data(let data): data
            case .array(let values): values.map(TypedValue.init)
            case .dictionary(let values): values.mapValues(TypedValue.init)
            }
        try container.encode(encoded, forKey: .value)
    }

    private static let specialDoubles: [String: Double] = ["nan": .nan, "inf": .infinity, "-inf": -.infinity]
}
