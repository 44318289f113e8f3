package import Essentials
package import KVStoreCore

/// A key without its value: an element of a key listing, and the answer to `PUT …/keys/{key}`.
package struct KeySummary: Sendable, Equatable, Decodable, JSONDocument {
    package var key: StoreKey
    package var seq: UInt64
    package var stamp: StoreStamp
    package var byteCount: Int

    private enum CodingKeys: String, CodingKey { case key, seq, stamp, byteCount }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        key = try fields.decode(StoreKey.self, forKey: .key)
        seq = try fields.decode(in: WireNumber.sequence, forKey: .seq)
        stamp = try fields.decode(StoreStamp.self, forKey: .stamp)
        byteCount = try fields.decodeCount(forKey: .byteCount)
    }

    package init(_ entry: SequencedRecord) {
        key = entry.record.key
        seq = entry.sequence
        stamp = entry.record.stamp
        byteCount = entry.record.content.byteCount
    }

    package func write(to text: inout JSONText) { write(to: &text, hasMore: false) }

    /// - Parameter hasMore: of an event, whether the next one belongs together with it.
    func write(to text: inout JSONText, hasMore: Bool) {
        text.write(literal: #"{"byteCount":"#)
        text.write(byteCount)
        text.write(literal: #","key":"#)
        text.write(key.text)
        if hasMore { text.write(literal: #","more":true"#) }
        text.write(literal: #","seq":"#)
        text.write(seq)
        text.write(literal: #","stamp":"#)
        text.write(plain: stamp.description)
        text.write(literal: "}")
    }
}

/// The answer to `GET /v1/stores/{store}/keys`.
package struct KeyList: Sendable, Equatable, Decodable, JSONDocument {
    package var store: String
    package var keys: [KeySummary]

    package init(store: String, entries: some Sequence<SequencedRecord>) {
        self.store = store
        keys = entries.map(KeySummary.init)
    }

    package func write(to text: inout JSONText) {
        text.write(literal: #"{"keys":"#)
        text.write(keys)
        text.write(literal: #","store":"#)
        text.write(store)
        text.write(literal: "}")
    }
}

/// The JSON body of `PUT …/keys/{key}`.
package struct ValueDocument: Sendable, Equatable, Codable {
    package var value: Data

    package init(value: Data) { self.value = value }

    private enum CodingKeys: CodingKey { case value }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        value = try fields.decode(forKey: .value, expecting: "base64")
    }
}
