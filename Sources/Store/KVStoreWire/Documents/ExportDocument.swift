// Exports of stores and worlds as JSON with typed values, read and written. Not here: the documents
// of the protocol (KVStoreWire) and of the log (KVStoreLog).

package import Essentials
package import KVStoreCore

/// All values of a store as a JSON document: `version` (1), `store`, `exported` (ISO 8601) and `values`, a list of
/// `key`, `type` and `value` sorted by key, in the form of `TypedValue`. Unknown fields are ignored.
package struct ExportDocument: Codable, Equatable {
    package static let version = 1
    /// Enough for a full store in base64.
    package static let byteLimit = 16 * 1_024 * 1_024

    package struct Entry: Equatable, Sendable {
        package var key: String
        package var value: PropertyListValue

        package init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }
    }

    private var version = Self.version
    package var store: String
    package var exported: String
    package var values: [Entry]

    package init(store: String, exported: String, values: [Entry]) {
        self.store = store
        self.exported = exported
        self.values = values
    }

    /// One field per line, sorted, with a trailing newline.
    package func encoded() throws(DocumentError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(self) + Data("\n".utf8)
        } catch {
            throw DocumentError("cannot encode as JSON: \(error)")
        }
    }

    /// Reads an export of a store, or one store of an export of an emulator's world.
    ///
    /// - Parameters:
    ///   - name: the document's name in errors, which also give the path of the invalid field.
    ///   - store: which one of a world, unless that has only one.
    package static func decode(_ data: Data, from name: String, store: String) throws(DocumentError) -> ExportDocument {
        let document: ExportDocument
        do {
            let decoder = JSONDecoder()
            if try decoder.decode(Form.self, from: data).isWorld {
                document = try decoder.decode(World.self, from: data).document(of: store)
            } else {
                document = try decoder.decode(ExportDocument.self, from: data)
            }
        } catch let error as DocumentError {
            throw DocumentError("\(name): \(error)")
        } catch {
            throw DocumentError("\(name): \(description(of: error))")
        }
        guard document.version == version else {
            throw DocumentError("\(name): unsupported version \(document.version); this kvs reads version \(version)")
        }
        return document
    }

    private static func description(of error: any Error) -> String {
        let context: DecodingError.Context
        switch error as? DecodingError {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found): context = found
        case .keyNotFound(let key, let found):
            let path = path(found)
            return (path.isEmpty ? "" : path + ": ") + "missing field \(key.stringValue)"
        default: return "not an export of kvs"
        }
        let path = path(context)
        let form = ExpectedForm(of: error).map { ", expected \($0.text)" } ?? ""
        return path.isEmpty ? "not an export of kvs" : "\(path): invalid value\(form)"
    }

    private static func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            .joined(separator: ".").replacing(".[", with: "[")
    }
}

extension ExportDocument {
    /// Whether a document has stores.
    private struct Form: Decodable {
        let isWorld: Bool

        private enum CodingKeys: CodingKey { case stores }

        init(from decoder: any Decoder) throws {
            isWorld = try decoder.container(keyedBy: CodingKeys.self).contains(.stores)
        }
    }

    /// As `WorldDocument` writes it; a value that is not a property list does not decode.
    private struct World: Decodable {
        struct Store: Decodable {
            var store: String
            var values: [Entry]
        }

        var version: Int
        var stores: [Store]

        func document(of name: String) throws(DocumentError) -> ExportDocument {
            let only = stores.count == 1 ? stores.first : nil
            guard let store = only ?? stores.first(where: { $0.store == name }) else {
                let names = stores.prefix(8).map { String($0.store.prefix(128)) }
                throw DocumentError(
                    "no store \(name) among those of the document"
                        + (names.isEmpty ? "" : " (\(names.joined(separator: ", ")))") + "; name one with --store")
            }
            var document = ExportDocument(store: store.store, exported: "", values: store.values)
            document.version = version
            return document
        }
    }
}

extension ExportDocument.Entry: Codable {
    private enum CodingKeys: String, CodingKey { case key }

    package init(from decoder: any Decoder) throws {
        key = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .key)
        value = try TypedValue(from: decoder).value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try TypedValue(value).encode(to: encoder)
    }
}
