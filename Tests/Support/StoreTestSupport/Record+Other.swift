import Foundation
package import KVStoreCore

extension StoreRecord {
    /// What another replica wrote, by default in the past.
    package static func other(_ key: StoreKey, _ value: String?, at milliseconds: Int64 = 500_000) -> StoreRecord {
        StoreRecord(
            key: key, stamp: StoreStamp(milliseconds: milliseconds, counter: 0, replica: ReplicaID(rawValue: 99)),
            content: value.map { .value(Data($0.utf8)) } ?? .tombstone)
    }
}

extension SequencedRecord {
    /// What another replica wrote, by default in the past.
    package static func other(
        _ key: StoreKey, _ value: String?, at milliseconds: Int64 = 500_000, sequence: UInt64 = 0
    ) -> SequencedRecord {
        SequencedRecord(record: .other(key, value, at: milliseconds), sequence: sequence)
    }
}
