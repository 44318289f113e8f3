/// All keys of a replica, with the counters that the quota needs.
///
/// Invariant: `byteCount` and `keyCount` equal a recount over the keys that have a value.
package struct Table: Sendable, Equatable {
    /// How far a record has come on its way to the daemon.
    package enum Status: UInt8, Sendable {
        /// The daemon holds it.
        case acknowledged = 0
        /// Written here, to be sent.
        case pending = 1
        /// Written here before the first download: gives way to what the daemon holds under the key.
        case provisional = 2
    }

    package struct Entry: Sendable, Equatable {
        package var record: StoreRecord
        package var status: Status

        package init(record: StoreRecord, status: Status) {
            self.record = record
            self.status = status
        }
    }

    package private(set) var entries: [StoreKey: Entry] = [:]
    /// As the quota counts; see `StoreRecord.Content.quotaByteCount`.
    package private(set) var byteCount = 0
    package private(set) var keyCount = 0
    package private(set) var pendingKeys: Set<StoreKey> = []

    package subscript(key: StoreKey) -> Entry? { entries[key] }

    /// The visible value's content; nil for a key that is missing or removed.
    package func content(forKey key: StoreKey) -> StoreRecord.Content? {
        guard let content = entries[key]?.record.content, !content.isTombstone else { return nil }
        return content
    }

    /// Replaces the entry of its key; returns whether the visible value changed.
    @discardableResult
    mutating func put(_ entry: Entry) -> Bool {
        let key = entry.record.key
        let old = entries.updateValue(entry, forKey: key)
        if entry.status == .acknowledged {
            pendingKeys.remove(key)
        } else {
            pendingKeys.insert(key)
        }
        count(old?.record.content, by: -1)
        count(entry.record.content, by: 1)
        return (old?.record.content ?? .tombstone) != entry.record.content
    }

    mutating func acknowledge(_ key: StoreKey) {
        guard var entry = entries[key] else { return }
        entry.status = .acknowledged
        put(entry)
    }

    private mutating func count(_ content: StoreRecord.Content?, by sign: Int) {
        guard let content, !content.isTombstone else { return }
        byteCount += sign * content.quotaByteCount
        keyCount += sign
    }
}
