public import Essentials

/// One version of a key: what was written, when and by whom.
///
/// ```swift
/// if let record = store.record(forKey: "theme") {
///     print(record.content.byteCount, record.stamp.milliseconds, record.stamp.replica)
/// }
/// ```
public struct StoreRecord: Sendable, Hashable {
    public var key: StoreKey
    public var stamp: StoreStamp
    public var content: Content

    /// A value as the bytes of its binary property list, or a tombstone for a removed key.
    public enum Content: Sendable, Hashable {
        case value(Data)
        case tombstone

        public var byteCount: Int {
            switch self {
            case .value(let data): data.count
            case .tombstone: 0
            }
        }

        package var isTombstone: Bool { self == .tombstone }
    }

    public init(key: StoreKey, stamp: StoreStamp, content: Content) {
        self.key = key
        self.stamp = stamp
        self.content = content
    }
}

extension StoreRecord {
    /// The merge rule: whether this record replaces `other`, a record of the same key.
    ///
    /// The greater stamp wins. Stamps are unique per write, so two records with one stamp differ only
    /// after a replica's directory was copied or a file was damaged; then a value beats a tombstone and
    /// the lexicographically greater bytes win, so that all replicas converge on the same record. The rule
    /// is a total order on (stamp, content), and the maximum of a total order is commutative,
    /// associative and idempotent.
    package func supersedes(_ other: StoreRecord) -> Bool {
        if stamp != other.stamp { return other.stamp < stamp }
        switch (content, other.content) {
        case (.tombstone, _): return false
        case (.value, .tombstone): return true
        case (.value(let mine), .value(let theirs)): return theirs.lexicographicallyPrecedes(mine)
        }
    }

    /// Roughly what the record takes in a message: the key, the value in base64 and the field names.
    package var wireByteCount: Int { key.text.utf8.count + content.byteCount / 3 * 4 + 120 }
}

/// A record with the sequence number that the daemon assigned to it.
///
/// For an example see `SyncTransport`.
public struct SequencedRecord: Sendable, Hashable {
    public var record: StoreRecord
    public var sequence: UInt64

    public init(record: StoreRecord, sequence: UInt64) {
        self.record = record
        self.sequence = sequence
    }
}
