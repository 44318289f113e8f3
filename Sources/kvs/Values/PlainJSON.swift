import CommandSupport
import Essentials
import KVStoreEssentials

/// Ordinary JSON as a property list. Numbers without a fraction become integers; JSON has no dates and no data.
struct PlainJSON: Decodable {
    var value: PropertyListValue

    static func parse(_ data: Data) throws(CommandFailure) -> PropertyListValue {
        let value: PropertyListValue
        do {
            value = try JSONDecoder().decode(PlainJSON.self, from: data).value
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.usage, "invalid JSON")
        }
        guard (try? PropertyListValue(encoded: value.encoded())) != nil else {
            throw CommandFailure(.usage, "the JSON is nested too deeply")
        }
        return value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let values = try? container.decode([String: PlainJSON].self) {
            value = .dictionary(values.mapValues(\.value))
        } else if let values = try? container.decode([PlainJSON].self) {
            value = .array(values.map(\.value))
        } else if let flag = try? container.decode(Bool.self) {
            value = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            value = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            value = .double(number)
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else {
            throw CommandFailure(.usage, "cannot store JSON null")
        }
    }
}
