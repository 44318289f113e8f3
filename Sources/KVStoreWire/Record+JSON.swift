import Essentials
public import KVStoreCore

/// A value whose JSON form is a string with its text form.
public protocol TextDocument: LosslessStringConvertible, Codable {}

extension TextDocument {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not the text of a \(Self.self)")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension StoreKey: TextDocument {}
extension Stamp: TextDocument {}
extension ReplicaID: TextDocument {}
extension EpochID: TextDocument {}

/// `key`, `stamp`, and either `value` in base64 or `"deleted": true`.
extension Record: Decodable, JSONDocument {
    private enum CodingKeys: String, CodingKey {
        case key, stamp, value, deleted
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let isDeleted = try fields.decodeIfPresent(Bool.self, forKey: .deleted) ?? false
        let content: Content
        switch (try fields.decodeIfPresent(Data.self, forKey: .value), isDeleted) {
        case (let value?, false): content = .value(value)
        case (nil, true): content = .tombstone
        case (nil, false):
            throw DecodingError.keyNotFound(
                CodingKeys.value, .init(codingPath: fields.codingPath, debugDescription: ""))
        case (_?, true):
            throw DecodingError.dataCorruptedError(
                forKey: .deleted, in: fields, debugDescription: "both a value and deleted")
        }
        self.init(
            key: try fields.decode(StoreKey.self, forKey: .key),
            stamp: try fields.decode(Stamp.self, forKey: .stamp), content: content)
    }

    package func write(to text: inout JSONText) { write(to: &text, sequence: nil) }

    fileprivate func write(to text: inout JSONText, sequence: UInt64?) {
        text.write(literal: content.isTombstone ? #"{"deleted":true,"key":"# : #"{"key":"#)
        text.write(key.text)
        if let sequence {
            text.write(literal: #","seq":"#)
            text.write(sequence)
        }
        text.write(literal: #","stamp":"#)
        text.write(plain: stamp.description)
        if case .value(let data) = content {
            text.write(literal: #","value":"#)
            text.write(data)
        }
        text.write(literal: "}")
    }
}

/// The fields of the record, and `seq`.
extension SequencedRecord: Decodable, JSONDocument {
    private enum CodingKeys: String, CodingKey {
        case seq
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            record: try Record(from: decoder),
            sequence: try fields.decode(in: WireNumber.sequence, forKey: .seq))
    }

    package func write(to text: inout JSONText) { record.write(to: &text, sequence: sequence) }
}
