import Foundation
import KVStoreCore
import KVStoreWire
import Testing

/// Values for documents, and what every document has to do.
enum Samples {
    static let replica = ReplicaID(rawValue: 0x8f3a_c0de_51b2_0417)
    static let epoch = EpochID(rawValue: 0xe1)

    static func stamp(_ milliseconds: Int64 = 1_767_225_600_123) -> StoreStamp {
        StoreStamp(milliseconds: milliseconds, counter: 7, replica: replica)
    }

    static func value(_ key: StoreKey = "key", _ bytes: [UInt8] = [0, 1, 255]) -> StoreRecord {
        StoreRecord(key: key, stamp: stamp(), content: .value(Data(bytes)))
    }

    static func tombstone(_ key: StoreKey = "key") -> StoreRecord {
        StoreRecord(key: key, stamp: stamp(), content: .tombstone)
    }

    /// Keys that a careless decoder changes, or takes for one another.
    static let literalKeys: [StoreKey] = [
        "\u{FEFF}abc", "abc", "e\u{301}", "\u{e9}", "a\u{0}b", "\u{0}", "/", "\"\\\n\u{7f}\u{2028}",
        "\u{1F469}\u{200D}\u{1F4BB}", StoreKey(String(repeating: "\u{1F600}", count: 64)),
    ]

    static func json(_ document: some Encodable) -> String {
        String(decoding: WireJSON.encode(document), as: UTF8.self)
    }

    static func json(_ document: some JSONDocument) -> String {
        String(decoding: WireJSON.encode(document), as: UTF8.self)
    }

    static func decode<Document: Decodable>(_ json: String, as type: Document.Type = Document.self) throws -> Document {
        try WireJSON.decode(from: Data(json.utf8))
    }

    /// Encodes to exactly this text, and decodes to the same value from it.
    static func expect<Document: Codable & Equatable>(
        _ document: Document, is json: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(Self.json(document) == json, sourceLocation: sourceLocation)
        #expect(try decode(json) == document, sourceLocation: sourceLocation)
    }

    static func expect<Document: JSONDocument & Decodable & Equatable>(
        _ document: Document, is json: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(Self.json(document) == json, sourceLocation: sourceLocation)
        #expect(try decode(json) == document, sourceLocation: sourceLocation)
    }
}
