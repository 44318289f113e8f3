import KVStoreCore
import KVStoreLedger
import KVStoreWire

extension StorageEngine {
    /// The durable changes after a cursor; nil when it is not in the present epoch, and the reader
    /// has to sync again.
    func page(of id: StoreID, after cursor: Cursor) async throws(Problem) -> Hub.Page? {
        try await read { engine throws(Problem) in
            guard let hub = engine.ledger.hub(id), !hub.endsStream(at: cursor) else { return nil }
            let durable = engine.ledger.durableSequence(of: id)
            return hub.page(after: cursor.sequence, through: max(cursor.sequence, durable))
        }
    }

    /// Where the history of a store ends; nil for an unknown store.
    func end(of id: StoreID) async throws(Problem) -> Cursor? {
        try await read { engine throws(Problem) in engine.ledger.hub(id)?.end }
    }

    /// The stores of an account that have ever been used, sorted by name.
    func stores(ofAccount account: String) async throws(Problem) -> [StoreList.Store] {
        try await read { engine throws(Problem) in
            engine.ledger.stores(ofAccount: account).compactMap { id in
                engine.ledger.hub(id).map { hub in
                    StoreList.Store(
                        name: id.name, end: hub.end, keyCount: hub.keyCount,
                        byteCount: hub.byteCount)
                }
            }
        }
    }

    /// The value of a key; nil without one.
    func value(of key: StoreKey, in id: StoreID) async throws(Problem) -> SequencedRecord? {
        try await commitOrRead { engine throws(Problem) in
            guard let entry = engine.ledger.hub(id)?.entries[key],
                !entry.record.content.isTombstone
            else { return nil }
            if let failure = engine.failure,
                entry.sequence > engine.ledger.durableSequence(of: id)
            {
                throw Problem(failure)
            }
            return entry
        }
    }

    /// The keys of a store that have a value, sorted; nil for an unknown store.
    func values(in id: StoreID) async throws(Problem) -> [SequencedRecord]? {
        try await commitOrRead { engine throws(Problem) in
            guard let hub = engine.ledger.hub(id) else { return nil }
            let durable =
                engine.failure == nil ? UInt64.max : engine.ledger.durableSequence(of: id)
            return hub.entries.values
                .filter { !$0.record.content.isTombstone && $0.sequence <= durable }
                .sorted { $0.record.key < $1.record.key }
        }
    }
}
