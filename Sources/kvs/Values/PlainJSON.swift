import CommandSupport
import Foundation
import KVStore

/// Ordinary JSON as a property list. Numbers without a fraction become integers; JSON has no dates and no data.
struct PlainJSON: Decodable {
    var value: PropertyListValue

    static func parse(_ data: Data) throws(CommandFailure) -> PropertyListValue {
        let value: PropertyListValue
        do {
            value = try JSONDecoder().decode(PlainJSON.self, from: data).value
        } catch is NullValue {
            throw CommandFailure(.usage, "cannot store JSON null")
        } catch {
            throw CommandFailure(.usage, "invalid JSON")
        }
        guard (try? PropertyListValue(encoded: value.encoded())) != nil else {
            throw CommandFailure(.usage, "the JSON is nested too deeply")
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
