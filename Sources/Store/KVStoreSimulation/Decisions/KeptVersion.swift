import Essentials
package import KVStoreCore
package import KVStoreWire

/// A version of a key with the device that wrote it.
package struct KeptVersion: DecisionVersion {
    package enum Content: Sendable {
        case value(StoredValue)
        /// The beginning of a long value.
        case summary(type: String, text: String, byteCount: Int)
        case removal
    }

    package let content: Content
    package let stamp: StoreStamp
    package let writer: String

    /// - Parameter byteLimit: of a value; a longer one is kept as a summary.
    package init(_ record: StoreRecord, writer: String, byteLimit: Int = .max) {
        stamp = record.stamp
        self.writer = writer
        content =
            switch record.content {
            case .tombstone: .removal
            case .value(let data) where data.count <= byteLimit: .value(StoredValue(data))
            case .value(let data): Content(summarizing: data)
            }
    }

    package var valueText: String? {
        switch content {
        // Shown as bytes.
        case .value(let value): Content.text(value.data, try? PropertyListValue(encoded: value.data))
        case .summary(_, let text, _): text
        case .removal: nil
        }
    }

    /// Memory that it takes, estimated.
    package var memoryByteCount: Int {
        switch content {
        case .value(let value): 128 + value.data.count
        case .summary(_, let text, _): 192 + text.utf8.count
        case .removal: 128
        }
    }
}

extension KeptVersion.Content {
    fileprivate init(summarizing data: Data) {
        let value = try? PropertyListValue(encoded: data)  // shown as bytes
        self = .summary(
            type: value.map { ValueType($0).rawValue } ?? StoredValue.bytesType,
            text: Self.text(data, value), byteCount: data.count)
    }

    /// - Parameter value: nil if the bytes are not a property list.
    fileprivate static func text(_ data: Data, _ value: PropertyListValue?) -> String {
        value?.summary ?? "\(data.count) bytes"
    }
}

/// As JSON: `type` and `value`, or `type`, `summary` and `byteCount`, or `"deleted": true`.
extension KeptVersion: Encodable {
    private enum CodingKeys: CodingKey {
        case type, summary, byteCount, deleted, stamp, time, writer
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch content {
        case .value(let value): try value.encode(to: encoder)
        case .summary(let type, let text, let byteCount):
            try container.encode(type, forKey: .type)
            try container.encode(text, forKey: .summary)
            try container.encode(byteCount, forKey: .byteCount)
        case .removal: try container.encode(true, forKey: .deleted)
        }
        try container.encode(stamp, forKey: .stamp)
        try container.encode(stamp.milliseconds, forKey: .time)
        try container.encode(writer, forKey: .writer)
    }
}
