import KVStoreCore
import KVStoreLedger
import KVStoreWire

extension StorageEngine {
    /// The stores of an account that have ever been used, sorted by name.
    func stores(ofAccount account: String) -> [StoreList.Store] {
        ledger.stores(ofAccount: account).compactMap { id in
            ledger.hub(id).map { hub in
                StoreList.Store(
                    name: id.name, end: hub.end, keyCount: hub.keyCount, byteCount: hub.byteCount)
            }
        }
    }

    /// The value of a key; nil without one. May be sent when `whenDurable` completes.
    func value(of key: StoreKey, in id: StoreID) throws(Problem) -> SequencedRecord? {
        if failure == nil { try admit() }
        guard let entry = ledger.entry(of: key, in: id), !entry.record.content.isTombstone else {
            return nil
        }
        if let failure, entry.sequence > ledger.durableSequence(of: id) { throw Problem(failure) }
        return entry
    }

    /// The keys of a store that have a value, sorted; nil for an unknown store. May be sent when `whenDurable`
    /// completes.
    func values(in id: StoreID) throws(Problem) -> [SequencedRecord]? {
        if failure == nil { try admit() }
        guard let hub = ledger.hub(id) else { return nil }
        let durable = failure == nil ? UInt64.max : ledger.durableSequence(of: id)
        return hub.entries.values
            .filter { !$0.record.content.isTombstone && $0.sequence <= durable }
            .sorted { $0.record.key < $1.record.key }
    }
}
