package import KVStoreCore
import KVStoreLedger
package import KVStoreWire

/// For live readers, from any thread.
extension LogEngine {
    package func durableSequence(of store: StoreID) -> UInt64 {
        read { $0.ledger.durableSequence(of: store) }
    }

    package func page(of store: StoreID, after cursor: SyncCursor, limits: PageLimits) -> LivePage {
        read { state in
            let ledger = state.ledger
            guard let hub = ledger.history(of: store), !hub.endsStream(at: cursor) else { return .ended }
            let durable = ledger.durableSequence(of: store)
            let end = max(cursor.sequence, durable)
            return .changes(hub.page(after: cursor.sequence, through: end, limits: limits), durable: durable)
        }
    }
}

extension LogEngine.State {
    /// The stores of an account, sorted by name.
    package func stores(ofAccount account: String) -> [StoreList.Store] {
        ledger.stores(ofAccount: account).compactMap { id in
            ledger.hub(id).map { hub in
                StoreList.Store(name: id.name, end: hub.end, keyCount: hub.keyCount, byteCount: hub.byteCount)
            }
        }
    }

    /// The value of a key; nil without one.
    func value(of key: StoreKey, in id: StoreID) throws(Problem) -> SequencedRecord? {
        if failure == nil { try admit(isRead: true) }
        guard let entry = ledger.entry(of: key, in: id), !entry.record.content.isTombstone else { return nil }
        if let failure, entry.sequence > ledger.durableSequence(of: id) { throw Problem(failure) }
        return entry
    }

    /// The keys of a store that have a value, sorted; nil for an unknown store.
    ///
    /// - Parameter isIncluded: which of the keys.
    func values(
        in id: StoreID, where isIncluded: (StoreKey) -> Bool = { _ in true }
    ) throws(Problem) -> [SequencedRecord]? {
        if failure == nil { try admit(isRead: true) }
        guard let hub = ledger.hub(id) else { return nil }
        let durable = failure == nil ? UInt64.max : ledger.durableSequence(of: id)
        return hub.values(through: durable, where: isIncluded)
    }
}
