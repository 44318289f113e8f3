import Essentials
public import KVStoreCore

/// A value whose JSON form is a string with its text form.
///
/// ```swift
/// let json = try JSONEncoder().encode([ReplicaID(rawValue: 42)])
/// print(String(decoding: json, as: UTF8.self))      // ["000000000000002a"]
/// ```
public protocol TextDocument: LosslessStringConvertible, Codable {
    /// The text form in words, for errors.
    static var textForm: String { get }
}

extension TextDocument {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.expected(Self.textForm, at: container.codingPath)
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension StoreKey: TextDocument {
    public static var textForm: String { "a string" }
}

extension StoreStamp: TextDocument {
    public static var textForm: String { "a stamp such as 01a0b463467b-00000000-8f3ac0de51b20417" }
}

extension ReplicaID: TextDocument {
    public static var textForm: String { "16 lower-case hexadecimal digits" }
}

extension EpochID: TextDocument {
    public static var textForm: String { ReplicaID.textForm }
}

/// `key`, `stamp`, and either `value` in base64 or `"deleted": true`.
extension StoreRecord: Decodable, JSONDocument {
    private enum CodingKeys: String, CodingKey {
        case key, stamp, value, deleted
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let isDeleted = try fields.decodeIfPresent(Bool.self, forKey: .deleted) ?? false
        let content: Content
        let data: Data? =
            try fields.contains(.value) && !fields.decodeNil(forKey: .value)
            ? fields.decode(Data.self, forKey: .value, expecting: "base64") : nil
        switch (data, isDeleted) {
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
            stamp: try fields.decode(StoreStamp.self, forKey: .stamp), content: content)
    }

    package func write(to text: inout JSONText) { write(to: &text, sequence: nil) }

    /// - Parameter hasMore: of an event, whether the next one belongs together with it.
    func write(to text: inout JSONText, sequence: UInt64?, hasMore: Bool = false) {
        text.write(literal: content.isTombstone ? #"{"deleted":true,"key":"# : #"{"key":"#)
        text.write(key.text)
        if hasMore { text.write(literal: #","more":true"#) }
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
            record: try StoreRecord(from: decoder), sequence: try fields.decode(in: WireNumber.sequence, forKey: .seq))
    }

    package func write(to text: inout JSONText) { record.write(to: &text, sequence: sequence) }
}
