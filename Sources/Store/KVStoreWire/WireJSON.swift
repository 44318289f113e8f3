// What crosses the network, each format written once for both directions: JSON, the binary form of
// sync, server-sent events, problem documents and pairing lines. Not here: sockets, and files other
// than those that programs leave for each other.

package import Essentials
import KVStoreCore

/// Encodes and decodes the JSON documents of the protocol. `docs/protocol.md` is normative.
///
/// Client and server use the same types in both directions:
///
/// | document | type |
/// |---|---|
/// | body and answer of `POST …/sync` | `SyncRequest`, `SyncResponse` |
/// | one change; answer of `GET …/keys/{key}` and of `DELETE` | `SequencedRecord` |
/// | body of `PUT …/keys/{key}`; its answer | `ValueDocument`; `KeySummary` |
/// | answer of `GET …/keys` | `KeyList` |
/// | body and answer of `POST /v1/pair` | `PairingRequest`, `PairingAnswer` |
/// | answer of `GET /v1/me`, `/v1/devices`, `/v1/stores` | `DaemonIdentity`, `DeviceList`, `StoreList` |
/// | every error answer | `Problem` |
/// | the live stream | `EventStreamText` writes it; `ServerSentEventParser` and `SyncEventDecoder` read it |
/// | a key or store name in a path | `PercentEncoding` |
///
/// The domain types of `KVStoreCore` are `Codable` here; a document that violates the protocol does not decode.
/// Nothing in this target waits, blocks or keeps state outside its values.
package enum WireJSON {
    /// One line with sorted fields. Slashes are not escaped, so base64 does not grow.
    package static func encode(_ document: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        do {
            return try encoder.encode(document)
        } catch {
            // Only a non-finite number cannot be encoded, and no document has a floating-point field.
            fatalError("a \(type(of: document)) has no JSON form: \(error)")
        }
    }

    /// The same text as of an equal `Encodable` document.
    package static func encode(_ document: some JSONDocument) -> Data {
        Data(bytes(of: document))
    }

    package static func bytes(of document: some JSONDocument) -> [UInt8] {
        var text = JSONText(reserving: 256)
        document.write(to: &text)
        return text.bytes
    }

    /// Decodes a document from UTF-8 without a byte order mark. Unknown fields are ignored; a field that an object has
    /// twice is an error, as readers differ in which one counts.
    ///
    /// The caller bounds the size; nesting is checked before anything is decoded.
    package static func decode<Document: Decodable>(
        _ type: Document.Type = Document.self, from data: Data, depthLimit: Int = DocumentLimits.jsonDepth
    ) throws(WireError) -> Document {
        try JSONStructure.check(data, depthLimit: depthLimit)
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw WireError(error)
        }
    }
}

/// Why bytes from the network are not the expected document. The text never quotes any of them.
package enum WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong and where: `changes[3] lacks stamp`.
    case malformed(String)
    /// Arrays and objects nest deeper than `limit` levels.
    case tooDeep(limit: Int)
    /// A line or an event of an event stream is larger than `limit` bytes.
    case eventTooLarge(limit: Int)
    /// A list of a binary message has more than `limit` elements.
    case listTooLong(limit: Int)

    /// Foundation reports a number that does not fit its field as invalid JSON.
    package static let notJSON = WireError.malformed("invalid JSON, or a number out of range")
    package static let repeatedField = WireError.malformed("an object has a field twice")

    package init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            self = .malformed("\(Self.path(context)) lacks \(key.stringValue)")
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            self = .malformed("\(Self.path(context)) has the wrong type")
        case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            let form = ExpectedForm(of: error).map { ": expected \($0.text)" } ?? ""
            self = .malformed("\(Self.path(context)) is invalid\(form)")
        default: self = .notJSON
        }
    }

    package var description: String {
        switch self {
        case .malformed(let text): text
        case .tooDeep(let limit): "more than \(limit) levels of arrays and objects"
        case .eventTooLarge(let limit): "an event is larger than \(limit) bytes"
        case .listTooLong(let limit): "a list has more than \(limit) elements"
        }
    }

    /// Field names and indices: all names in a path are the protocol's own.
    private static func path(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.reduce(into: "") { path, part in
            path += part.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + part.stringValue
        }
        return path.isEmpty ? "the document" : path
    }
}
