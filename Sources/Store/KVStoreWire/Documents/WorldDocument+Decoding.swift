package import Essentials
import KVStoreCore

/// Decodes one store at a time, none of which takes more than a store may hold: a document of many small values would
/// take twenty times its size if it was decoded as a whole.
extension WorldDocument {
    /// Values and brackets of a document beside those of its stores.
    private static let markLimit = 1_024

    /// - Parameters:
    ///   - storeLimit: of stores.
    ///   - accept: is called with each store as soon as it is decoded; what it throws ends the decoding.
    /// - Throws: the first reason why the document is not one, with the key if it concerns one.
    package init(
        decoding data: Data, storeLimit: Int,
        accept: (Store) throws(DocumentError) -> Void = { _ in }
    ) throws(DocumentError) {
        let outline = try JSONOutline(
            of: "stores", in: data, elementLimit: storeLimit,
            tooMany: DocumentError("the document has more than \(storeLimit) stores"))
        guard let array = outline.array else {
            // The document of a single store.
            try Self.checkSize(data)
            try Self.checkVersion(data)
            let store = try Self.store(data)
            try accept(store)
            self.init([store])
            return
        }
        guard outline.markCount - outline.arrayMarkCount <= Self.markLimit else {
            throw .malformed
        }
        try Self.checkVersion(data[..<array.lowerBound] + Data("[]".utf8) + data[array.upperBound...])
        var stores: [Store] = []
        var names: Set<String> = []
        for element in outline.elements {
            try Self.checkSize(data[element])
            let store = try Self.store(data[element])
            guard names.insert(store.name).inserted else {
                throw DocumentError("store \(store.name) appears twice")
            }
            try accept(store)
            stores.append(store)
        }
        self.init(stores)
    }

    private static func checkVersion(_ data: Data) throws(DocumentError) {
        struct Form: Decodable { var version: Int }
        let form: Form = try decode(data)
        guard form.version == version else {
            throw DocumentError("unsupported version \(form.version); expected \(version)")
        }
    }

    /// Throws if no store can have what the JSON of one has.
    private static func checkSize(_ data: Data) throws(DocumentError) {
        let limits = StoreLimits.ceiling
        let outline = try JSONOutline(
            of: "values", in: data, elementLimit: limits.keyCount,
            tooMany: DocumentError("a store has more than \(limits.keyCount) values"))
        // An element of a value takes a byte of its property list at least, and has a bracket and two commas.
        guard outline.markCount <= 3 * limits.totalByteCount + 16 * limits.keyCount else {
            throw DocumentError("a store has more than \(limits.totalByteCount) bytes of values")
        }
    }

    private static func store(_ data: Data) throws(DocumentError) -> Store {
        let store: Store = try decode(data)
        var keys: Set<StoreKey> = []
        for entry in store.values where !keys.insert(entry.key).inserted {
            throw DocumentError("store \(store.name): key \(entry.key.text) appears twice")
        }
        return store
    }

    private static func decode<Value: Decodable>(_ data: Data) throws(DocumentError) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch let error as DocumentError {
            throw error
        } catch {
            throw .malformed
        }
    }
}

extension WorldDocument.Store: Decodable {
    private enum CodingKeys: CodingKey { case store, values }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .store)
        do {
            values = try container.decode([WorldDocument.Entry].self, forKey: .values)
        } catch let error as DocumentError {
            throw DocumentError("store \(name): \(error.description)")
        } catch {
            throw DocumentError("store \(name): invalid list of values")
        }
    }
}
