package import KVStoreCore
package import KVStoreLedger
package import KVStoreWire

/// The door.
extension LogEngine: StorageEngine {
    package var clock: @Sendable () -> Int64 { options.now }

    package func now(of account: String) -> Int64 { options.now(of: account) }

    package func sync(
        _ request: SyncRequest, store: StoreID, by device: Device, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SyncResponse>
    ) {
        let mayCreate = device.scopes.contains(.write)
        perform(
            on: loop, { state throws(Problem) in try sync(request, store: store, mayCreate: mayCreate, in: &state) },
            complete)
    }

    package func write(
        _ content: StoreRecord.Content, forKey key: StoreKey, store: StoreID, if precondition: Precondition,
        by device: Device?, replica: ReplicaID, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SequencedRecord>
    ) {
        perform(
            on: loop,
            { state throws(Problem) in
                try write(content, forKey: key, store: store, if: precondition, replica: replica, in: &state)
            },
            complete)
    }

    package func value(
        of key: StoreKey, in store: StoreID, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SequencedRecord?>
    ) {
        perform(on: loop, { state throws(Problem) in try state.value(of: key, in: store) }, complete)
    }

    package func values(
        in store: StoreID, where isIncluded: @escaping @Sendable (StoreKey) -> Bool, on loop: WatcherRegistry,
        _ complete: @escaping Completion<[SequencedRecord]?>
    ) {
        perform(on: loop, { state throws(Problem) in try state.values(in: store, where: isIncluded) }, complete)
    }

    package func stores(
        ofAccount account: String, on loop: WatcherRegistry, _ complete: @escaping Completion<[StoreList.Store]>
    ) {
        complete(.success(read { $0.stores(ofAccount: account) }))
    }

    package func remove(_ store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<Void>) {
        perform(on: loop, { state throws(Problem) in try remove(store, in: &state) }, complete)
    }

    package func removeStores(
        ofAccount account: String, count: Int, on loop: WatcherRegistry, _ complete: @escaping Completion<Bool>
    ) {
        perform(
            on: loop, { state throws(Problem) in try removeStores(ofAccount: account, count: count, in: &state) },
            complete)
    }

    package func end(of store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<SyncCursor>) {
        let end = read { $0.ledger.history(of: store)?.end }
        complete(end.map(Result.success) ?? .failure(.unknownStore))
    }

    package func checkReadiness() throws(Problem) {
        if read({ $0.failure != nil }) { throw .diskFailed }
    }

    package func accountTotals(on loop: WatcherRegistry, _ complete: @escaping Completion<[String: AccountTotals]>) {
        complete(.success(read { $0.ledger.accountTotals }))
    }

    package var logState: LogState? {
        read { state in
            LogState(
                fileByteCount: state.ledger.logByteCount, memoryByteCount: state.ledger.memoryByteCount,
                storeCount: state.ledger.storeCount, waitingCount: state.waitingCount,
                hasFailed: state.failure != nil)
        }
    }
}
