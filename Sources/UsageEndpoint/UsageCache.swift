import Essentials
import KVStoreCore
import KVStoreServer
import UsageState

/// The decoded usage of the stores that were asked about last.
struct UsageCache {
    /// Of all values that are kept decoded: what one store may have.
    static let byteLimit = StoreLimits.ceiling.totalByteCount

    private struct Entry {
        var store: StoreID
        var records: [Version]
        var usage: StoredUsage
        var byteCount: Int
    }

    /// What has one value: a sequence number is assigned once in an epoch, which the stamp tells apart.
    private struct Version: Equatable {
        var key: StoreKey
        var stamp: Stamp
        var sequence: UInt64
    }

    /// The one asked about last is the last.
    private var entries: [Entry] = []

    /// - Parameter records: those of the store that usage is read from.
    mutating func usage(of store: StoreID, in records: [SequencedRecord]) -> StoredUsage {
        let versions = records.map {
            Version(key: $0.record.key, stamp: $0.record.stamp, sequence: $0.sequence)
        }
        let found = entries.firstIndex { $0.store == store }.map { entries.remove(at: $0) }
        let kept = found.flatMap { $0.records == versions ? $0.usage : nil }
        let usage = kept ?? StoredUsage(values: records.dataByKey)
        entries.append(
            Entry(
                store: store, records: versions, usage: usage,
                byteCount: records.reduce(0) { $0 + $1.record.content.byteCount }))
        while entries.reduce(0, { $0 + $1.byteCount }) > Self.byteLimit { entries.removeFirst() }
        return usage
    }
}
