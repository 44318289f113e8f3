import Essentials
public import KVStoreCore

// Disfavored because apps extend the class with members of these names.
extension UbiquitousKeyValueStore {
    /// Stores an encodable value as the property list that it encodes to. Throws `invalidValue` if it does not
    /// encode to one, and the errors of `write`.
    ///
    /// ```swift
    /// try store.encode(Window(width: 800, height: 600), forKey: "window")
    /// let window = try store.decode(Window.self, forKey: "window")
    /// ```
    @_disfavoredOverload
    public func encode(_ value: some Encodable, forKey key: String) throws(StoreError) {
        let encoded: PropertyListValue
        do {
            // In an array, because the encoder rejects top-level numbers and strings.
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            encoded = try PropertyListValue(encoded: encoder.encode([value]))
        } catch {
            throw StoreError(.invalidValue, operation: "encode", subject: "key \(key)", reason: "\(error)")
        }
        guard case .array(let values) = encoded, let first = values.first else {
            throw StoreError(
                .invalidValue, operation: "encode", subject: "key \(key)",
                reason: "\(type(of: value)) encodes to nothing")
        }
        try write(first, forKey: key)
    }

    /// The value under a key, decoded; nil for a missing key. Throws `invalidValue` if it does not decode.
    @_disfavoredOverload
    public func decode<Value: Decodable>(
        _ type: Value.Type, forKey key: String
    ) throws(StoreError) -> Value? {
        guard let value = propertyList(forKey: key) else { return nil }
        do {
            let data = PropertyListValue.array([value]).encoded()
            return try PropertyListDecoder().decode([Value].self, from: data).first
        } catch {
            throw StoreError(
                .invalidValue, operation: "decode", subject: "key \(key)", reason: "not a \(type): \(error)")
        }
    }
}
