import CommandSupport
import Foundation
import KVStore

/// All values of a store as one JSON document, version 1: `version`, `store`, `exported` (ISO 8601) and
/// `values`, a list of `key`, `type` and `value` sorted by key. `TypedValue` says how values look.
/// Unknown fields are ignored.
struct ExportDocument: Codable, Equatable {
    static let version = 1
    /// Bytes of a document that is read: what a full store takes in base64, and room.
    static let byteLimit = 16 * 1_024 * 1_024

    struct Entry: Codable, Equatable {
        var key: String
        var value: PropertyListValue

        init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }

        private enum CodingKeys: String, CodingKey { case key }

        init(from decoder: any Decoder) throws {
            key = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .key)
            value = try TypedValue(from: decoder).value
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(key, forKey: .key)
            try TypedValue(value).encode(to: encoder)
        }
    }

    var version = Self.version
    var store: String
    var exported: String
    var values: [Entry]

    func encoded() throws(CommandFailure) -> Data {
        try JSONOutput.data(self, isIndented: true)
    }

    /// Reads a whole document or says what is wrong with it and where.
    static func decode(_ data: Data, from name: String) throws(CommandFailure) -> ExportDocument {
        let document: ExportDocument
        do {
            document = try JSONDecoder().decode(ExportDocument.self, from: data)
        } catch {
            throw CommandFailure(.dataError, "\(name): \(words(error))")
        }
        guard document.version == version else {
            throw CommandFailure(
                .dataError,
                "\(name): version \(document.version); this kvs reads version \(version)")
        }
        return document
    }

    private static func words(_ error: any Error) -> String {
        let context: DecodingError.Context
        switch error as? DecodingError {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found):
            context = found
        case .keyNotFound(let key, let found):
            let place = place(found)
            return place.isEmpty ? "no field \(key.stringValue)" : "\(place): no \(key.stringValue)"
        default: return "not an export of kvs"
        }
        let place = place(context)
        return place.isEmpty ? "not an export of kvs" : "\(place): not valid"
    }

    private static func place(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            .joined(separator: ".").replacing(".[", with: "[")
    }
}
