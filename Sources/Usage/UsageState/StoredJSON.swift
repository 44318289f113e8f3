package import Essentials

/// The JSON of small values of a store, and of the gate's files: one line, dates as seconds since 1970.
package enum StoredJSON {
    package static func data(of document: some Encodable) -> Data {
        JSONEncoder.sorted(dates: .secondsSince1970).data(of: document)
    }

    /// Nil for what is damaged, or longer than the limit.
    package static func decode<Document: Decodable>(
        _ type: Document.Type, from data: Data, byteLimit: Int
    ) -> Document? {
        guard data.count <= byteLimit else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return try? decoder.decode(type, from: data)  // As described.
    }
}

extension KeyedDecodingContainer {
    /// A setting that a user or another version has written; nil if it is missing or cannot be used.
    package func setting<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) -> Value? {
        try? decode(type, forKey: key)  // One that cannot be used has its default, and costs no other one.
    }
}
