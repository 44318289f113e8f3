extension KeyedDecodingContainer {
    /// A setting that a user or another version has written; nil if it is missing or cannot be used.
    package func setting<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
        try? decode(type, forKey: key)  // One that cannot be used has its default, and costs no other one.
    }
}
