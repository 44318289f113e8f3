import Foundation
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
extension Record: Codable {
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

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(key, forKey: .key)
        try fields.encode(stamp, forKey: .stamp)
        switch content {
        case .value(let data): try fields.encode(data, forKey: .value)
        case .tombstone: try fields.encode(true, forKey: .deleted)
        }
    }
}

/// The fields of the record, and `seq`.
extension SequencedRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case seq
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            record: try Record(from: decoder),
            sequence: try fields.decode(UInt64.self, forKey: .seq))
    }

    public func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(sequence, forKey: .seq)
    }
}
