package import Essentials
package import KVStoreCore

/// Ordinary JSON as a property list. Numbers without a fraction become integers; JSON has no dates and no data.
package struct PlainJSON: Decodable {
    var value: PropertyListValue

    package static func value(_ data: Data) throws(DocumentError) -> PropertyListValue {
        let value: PropertyListValue
        do {
            value = try JSONDecoder().decode(PlainJSON.self, from: data).value
        } catch let error as DocumentError {
            throw error
        } catch {
            throw DocumentError("invalid JSON")
        }
        guard (try? PropertyListValue(encoded: value.encoded())) != nil else {  // else it throws
            throw DocumentError("the JSON is nested too deeply")
        }
        return value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let values = try? container.decode([String: PlainJSON].self) {  // each type is tried
            value = .dictionary(values.mapValues(\.value))
        } else if let values = try? container.decode([PlainJSON].self) {  // each type is tried
            value = .array(values.map(\.value))
        } else if let flag = try? container.decode(Bool.self) {  // each type is tried
            value = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {  // each type is tried
            value = .integer(number)
        } else if let number = try? container.decode(UInt64.self) {  // each type is tried
            value = .whole(number)
        } else if let number = try? container.decode(Double.self) {  // each type is tried
            value = .double(number)
        } else if let text = try? container.decode(String.self) {  // each type is tried
            value = .string(text)
        } else {
            throw DocumentError("cannot store JSON null")
        }
    }
}
