import CommandSupport
import Foundation
import KVStore

/// JSON as people write it, as a property list. JSON has no dates, no data and one kind of number: a number
/// without a fraction becomes an integer.
struct PlainJSON: Decodable {
    var value: PropertyListValue

    /// Throws `CommandFailure` with what is wrong.
    static func parse(_ data: Data) throws(CommandFailure) -> PropertyListValue {
        let value: PropertyListValue
        do {
            value = try JSONDecoder().decode(PlainJSON.self, from: data).value
        } catch is NullValue {
            throw CommandFailure(.usage, "the JSON is no property list: null cannot be stored")
        } catch {
            throw CommandFailure(.usage, "not valid JSON")
        }
        guard (try? PropertyListValue(encoded: value.encoded())) != nil else {
            throw CommandFailure(.usage, "the JSON is nested too deep for a property list")
        }
        return value
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            var values: [String: PropertyListValue] = [:]
            for key in object.allKeys {
                values[key.stringValue] = try object.decode(PlainJSON.self, forKey: key).value
            }
            value = .dictionary(values)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [PropertyListValue] = []
            while !list.isAtEnd { values.append(try list.decode(PlainJSON.self).value) }
            value = .array(values)
            return
        }
        let single = try decoder.singleValueContainer()
        if let flag = try? single.decode(Bool.self) {
            value = .bool(flag)
        } else if let number = try? single.decode(Int64.self) {
            value = .integer(number)
        } else if let number = try? single.decode(Double.self) {
            value = .double(number)
        } else if let text = try? single.decode(String.self) {
            value = .string(text)
        } else {
            throw NullValue()
        }
    }

    private struct NullValue: Error {}

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int?

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
