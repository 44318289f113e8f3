package import Essentials
package import KVStoreCore

/// All values of several stores as text to read, compare and keep in version control: stores and keys are sorted, and
/// each value has a line of its own, in the form of `StoredValue` with its key. The same values give the same text. As
/// JSON:
///
///     { "version": 1, "stores": [ { "store": "notes", "values": [
///       { "key": "colour", "type": "string", "value": "green" } ] } ] }
///
/// A document of `kvs export` is read too, as one of a single store. Unknown fields are ignored.
package struct WorldDocument: Equatable, Sendable {
    package struct Store: Equatable, Sendable {
        package var name: String
        package var values: [Entry]

        package init(name: String, values: [Entry]) {
            self.name = name
            self.values = values
        }
    }

    package struct Entry: Equatable, Sendable {
        package var key: StoreKey
        package var value: StoredValue

        package init(key: StoreKey, value: StoredValue) {
            self.key = key
            self.value = value
        }
    }

    static let version = 1

    /// Sorted by name, their values by key.
    package let stores: [Store]

    package init(_ stores: [Store]) {
        self.stores = stores.sorted { $0.name < $1.name }.map { store in
            Store(name: store.name, values: store.values.sorted { $0.key < $1.key })
        }
    }

    package var encoded: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func line(_ value: some Encodable) -> String {
            // Every value has a JSON form.
            (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        func list(_ elements: [String], indent: String) -> String {
            elements.isEmpty
                ? "[]" : "[\n" + elements.map { indent + "  " + $0 }.joined(separator: ",\n") + "\n" + indent + "]"
        }
        let stores = stores.map { store in
            "{\"store\":\(line(store.name)),\"values\":" + list(store.values.map(line), indent: "  ") + "}"
        }
        let text = "{\"stores\":\(list(stores, indent: "")),\"version\":\(Self.version)}\n"
        return Data(text.utf8)
    }
}

extension WorldDocument.Entry: Codable {
    private enum CodingKeys: CodingKey { case key }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .key)
        key = StoreKey(text)
        do {
            value = try StoredValue(from: decoder)
        } catch let error as DocumentError {
            throw DocumentError("key \(text): \(error.description)")
        } catch {
            let form = ExpectedForm(of: error).map { "expected \($0.text)" }
            throw DocumentError("key \(text): \(form ?? "the value lacks a field")")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key.text, forKey: .key)
        try value.encode(to: encoder)
    }
}
