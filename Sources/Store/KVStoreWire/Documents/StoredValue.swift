package import Essentials
import KVStoreCore

/// The bytes of a value as JSON with their type: a `TypedValue`, or `{"type": "bytes", "value": "<base64>"}` if they
/// are not a property list.
package struct StoredValue: Equatable, Sendable {
    package var data: Data

    package init(_ data: Data) { self.data = data }

    /// The type of what is not a property list.
    package static let bytesType = "bytes"
    /// Levels of arrays and objects that a value may have as JSON.
    package static let jsonDepth = 2 * (WireLimits.propertyListDepth + 1)
}

extension StoredValue: Codable {
    private enum CodingKeys: String, CodingKey { case type, value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if try container.decode(String.self, forKey: .type) == Self.bytesType {
            data = try container.decode(forKey: .value, expecting: "base64")
            return
        }
        data = try TypedValue(from: decoder).value.encoded()
        guard (try? PropertyListValue(encoded: data)) != nil else {  // else it throws
            throw DocumentError("the value is nested too deeply")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if let value = try? PropertyListValue(encoded: data) {  // shown as bytes
            return try TypedValue(value).encode(to: encoder)
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.bytesType, forKey: .type)
        try container.encode(data, forKey: .value)
    }
}
