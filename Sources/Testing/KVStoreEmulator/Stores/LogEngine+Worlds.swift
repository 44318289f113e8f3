import Essentials
import KVStoreCore
import KVStoreWire
import KVStoreEssentials
import KVStoreLedger
import KVStoreLog
import KVStoreServer

/// The worlds of an emulator, which are accounts.
extension LogEngine.State {
    /// The accounts of a world that have stores, its own first.
    func accounts(ofWorld world: String) -> [String] {
        ledger.accountTotals.keys.filter { EmulatedAccount.world(of: $0) == world }.sorted()
    }

    /// Whether the epoch is one of a store of this name in another account of the world.
    func belongsToOtherAccount(_ epoch: EpochID, than id: StoreID) -> Bool {
        func has(_ id: StoreID) -> Bool {
            ledger.history(of: id)?.state.epochs.contains { $0.id == epoch } ?? false
        }
        return !has(id)
            && accounts(ofWorld: EmulatedAccount.world(of: id.account)).contains {
                $0 != id.account && has(StoreID(account: $0, name: id.name))
            }
    }

    /// The values of all stores of a world; nil if it has none.
    func document(of world: String) -> WorldDocument? {
        let stores = ledger.stores(ofAccount: world)
        guard !stores.isEmpty else { return nil }
        return WorldDocument(
            stores.map { id in
                WorldDocument.Store(
                    name: id.name,
                    values: (ledger.hub(id)?.entries.values).map(Array.init).map { entries in
                        entries.compactMap { entry in
                            guard case .value(let data) = entry.record.content else { return nil }
                            return WorldDocument.Entry(key: entry.record.key, value: StoredValue(data))
                        }
                    } ?? [])
            })
    }

    /// The entries of the changed keys, tombstones included.
    func entries(of changes: [StoreRecord], in id: StoreID) -> [StoreKey: SequencedRecord] {
        var entries: [StoreKey: SequencedRecord] = [:]
        for change in changes { entries[change.key] = ledger.entry(of: change.key, in: id) }
        return entries
    }
}

extension LogEngine {
    /// A document that a world can take, if there is enough memory. Decodes no more than that. From any thread.
    func document(decoding data: Data) throws(Problem) -> WorldDocument {
        let limit = options.ledger.memoryByteLimit
        var byteCount = 0
        do throws(DocumentError) {
            return try WorldDocument(decoding: data, storeLimit: options.storesPerAccount) {
                store throws(DocumentError) in
                byteCount += store.values.reduce(0) {
                    $0 + Ledger.memoryByteCount(of: $1.key, .value($1.value.data))
                }
                guard byteCount <= limit else { throw DocumentError("") }
            }
        } catch {
            throw byteCount > limit
                ? Problem(.full(limit: limit)) : .invalidImport(error.description)
        }
    }

    /// Removes all stores of a world, then writes those of the document, which replicas download in full. Changes
    /// nothing when it throws.
    ///
    /// - Parameter world: the name of an account.
    func replace(
        _ world: String, with document: WorldDocument, replica: ReplicaID, in state: inout State
    ) throws(Problem) {
        let now = options.now(of: world)
        var records: [(store: StoreID, records: [StoreRecord])] = []
        for store in document.stores {
            guard StoreConfiguration.isValidStoreName(store.name) else {
                throw .invalidImport("'\(store.name.printable(scalarLimit: 128))' is not a valid store name")
            }
            let id = StoreID(account: world, name: store.name)
            records.append((id, try Self.records(store, replacing: state.ledger.hub(id), now: now, replica: replica)))
        }
        try replace(
            state.accounts(ofWorld: world).flatMap(state.ledger.stores(ofAccount:)), with: records, now: now, in: &state
        )
    }

    /// The records of a store that is empty when they are written: later than those that it has now, apart from those
    /// with stamps of a clock that was ahead.
    private static func records(
        _ store: WorldDocument.Store, replacing hub: Hub?, now: Int64, replica: ReplicaID
    ) throws(Problem) -> [StoreRecord] {
        let latest = hub?.entries.values.map(\.record.stamp)
            .filter { $0.milliseconds <= now + WireLimits.futureMilliseconds }.max()
        let stamp = StoreStamp.next(after: latest, now: now, replica: replica)
        let records = store.values.map {
            StoreRecord(key: $0.key, stamp: stamp, content: .value($0.value.data))
        }
        if let rejection = Hub().plan(records, now: now).rejections.first {
            throw .invalidImport("store \(store.name): key \(rejection.key.text): \(Problem(rejection.reason).detail)")
        }
        return records
    }
}
