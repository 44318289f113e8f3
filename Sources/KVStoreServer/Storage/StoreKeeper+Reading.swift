import KVStore

/// What a live reader is told when it looks.
enum StoreNews: Sendable, Equatable {
    case page(Hub.Page)
    /// The reader's place is not of this history: it has to start over.
    case reset
    case unknownStore
}

extension StoreKeeper {
    /// What stands after `position`, as far as it is on disk.
    func news(
        of id: StoreID, epoch: String, after position: UInt64
    ) async throws(StoreFault) -> StoreNews {
        try await read { keeper throws(StoreFault) in
            guard let hub = keeper.ledger.hub(id) else { return .unknownStore }
            if hub.endsStream(epoch: epoch, since: position) { return .reset }
            let durable = keeper.ledger.durableSequence(of: id)
            return .page(hub.page(after: position, through: max(position, durable)))
        }
    }

    func summary(of id: StoreID) async throws(StoreFault) -> StoreSummary? {
        try await read { keeper throws(StoreFault) in keeper.summaryNow(of: id) }
    }

    /// The stores of an account that have ever been used, sorted by name.
    func summaries(ofAccount account: String) async throws(StoreFault) -> [StoreSummary] {
        try await read { keeper throws(StoreFault) in
            keeper.ledger.stores(ofAccount: account).compactMap { keeper.summaryNow(of: $0) }
        }
    }

    /// A key that has a value; nil for a store or key that is not there.
    func key(_ key: String, in id: StoreID) async throws(StoreFault) -> StoredKey? {
        try await settled { keeper throws(StoreFault) in
            guard let entry = keeper.ledger.hub(id)?.entries[key],
                entry.record.content != .tombstone
            else { return nil }
            if keeper.hasFailed, entry.sequence > keeper.ledger.durableSequence(of: id) {
                throw .diskFailed("the last value of the key may not be on disk")
            }
            return StoredKey(record: entry.record, sequence: entry.sequence)
        }
    }

    /// The keys of a store that have a value, sorted; nil for a store that is not there.
    func keys(in id: StoreID) async throws(StoreFault) -> [StoredKey]? {
        try await settled { keeper throws(StoreFault) in
            guard let hub = keeper.ledger.hub(id) else { return nil }
            let durable =
                keeper.hasFailed ? keeper.ledger.durableSequence(of: id) : UInt64.max
            return hub.entries.values
                .filter { $0.record.content != .tombstone && $0.sequence <= durable }
                .map { StoredKey(record: $0.record, sequence: $0.sequence) }
                .sorted { $0.record.key.utf8.lexicographicallyPrecedes($1.record.key.utf8) }
        }
    }

    /// What `body` sees, told only when it is on disk; after a failure of the disk, `body` itself
    /// leaves out what no sync has covered.
    private func settled<Value: Sendable>(
        _ body: @escaping @Sendable (StoreKeeper) throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        do throws(StoreFault) {
            return try await commit(body)
        } catch .diskFailed {
            return try await read(body)
        }
    }

    /// On the owner only.
    private func summaryNow(of id: StoreID) -> StoreSummary? {
        guard let hub = ledger.hub(id) else { return nil }
        return StoreSummary(
            id: id, epoch: hub.epoch, sequence: hub.sequence, keyCount: hub.keyCount,
            byteCount: hub.byteCount)
    }
}
