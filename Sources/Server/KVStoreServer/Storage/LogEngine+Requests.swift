package import KVStoreCore
import KVStoreLedger
import KVStoreLog
package import KVStoreWire

/// For the bodies of `perform`: what they return may be sent when it completes.
extension LogEngine {
    /// A push and a pull. Throws `unknownStore` if there is no store and the request may not create one.
    package func sync(
        _ request: SyncRequest, store id: StoreID, mayCreate: Bool, in state: inout State
    ) throws(Problem) -> SyncResponse {
        guard mayCreate || state.ledger.history(of: id) != nil else { throw .unknownStore }
        guard let failure = state.failure else {
            try state.admit(isRead: request.changes.isEmpty)
            return try apply(request, to: id, in: &state)
        }
        guard request.changes.isEmpty, let answer = durableAnswer(to: request, store: id, in: state.ledger)
        else { throw Problem(failure) }
        return answer
    }

    /// Writes a key for a user, with a stamp greater than that of the present record. An equal value
    /// changes nothing; removing a key without a value throws `unknownKey`.
    package func write(
        _ content: StoreRecord.Content, forKey key: StoreKey, store id: StoreID, if precondition: Precondition,
        replica: ReplicaID, in state: inout State
    ) throws(Problem) -> SequencedRecord {
        try state.admitChange()
        let present = state.ledger.entry(of: key, in: id)
        try precondition.check(present, writing: content)
        if present?.record.content ?? .tombstone == content {
            guard let present, !content.isTombstone else { throw .unknownKey }
            return present
        }
        let stamp = StoreStamp.next(after: present?.record.stamp, now: options.now(of: id.account), replica: replica)
        return try apply(StoreRecord(key: key, stamp: stamp, content: content), to: id, in: &state)
    }

    /// Removes a store with all its records.
    package func remove(_ id: StoreID, in state: inout State) throws(Problem) {
        try state.admitChange()
        let isRemoved: Bool
        do throws(LogError) { isRemoved = try state.ledger.remove(id) } catch {
            failIfClosed(&state)
            throw Problem(error)
        }
        guard isRemoved else { throw .unknownStore }
    }

    /// Removes up to `count` stores of an account; returns whether there may be more.
    package func removeStores(
        ofAccount account: String, count: Int, in state: inout State
    ) throws(Problem) -> Bool {
        // Before the log has recovered, stores may be gone from memory alone.
        try state.admitChange()
        let stores = state.ledger.stores(ofAccount: account).prefix(count)
        for id in stores { try remove(id, in: &state) }
        return stores.count == count
    }

    /// Removes stores, then writes records into others, which replicas download in full. Changes nothing when it
    /// throws.
    ///
    /// Precondition: the stores that are written do not exist then, and accept the records.
    package func replace(
        _ stores: [StoreID], with replacements: [(store: StoreID, records: [StoreRecord])], now: Int64,
        in state: inout State
    ) throws(Problem) {
        try state.admitChange()
        let ledger = state.ledger
        var (recordCount, byteCount) = (0, 0)
        for record in replacements.lazy.flatMap(\.records) {
            recordCount += 1
            byteCount += Ledger.memoryByteCount(of: record)
        }
        let present = stores.compactMap(ledger.hub).reduce(0) { $0 + Ledger.memoryByteCount(of: $1) }
        let limit = options.ledger.memoryByteLimit
        guard ledger.memoryByteCount - present + byteCount <= limit else { throw Problem(.full(limit: limit)) }
        do throws(LogError) {
            for id in stores { _ = try ledger.remove(id) }
            for (id, records) in replacements {
                let plan = try ledger.accept(records, to: id, now: now)
                precondition(plan.rejections.isEmpty, "the records have been checked")
            }
        } catch {
            failIfClosed(&state)
            throw Problem(error)
        }
        state.payForCompaction(recordCount: recordCount, byteCount: byteCount)
    }

    /// The answer to a request without changes after a failed sync.
    private func durableAnswer(to request: SyncRequest, store id: StoreID, in ledger: Ledger) -> SyncResponse? {
        let durable = ledger.durableSequence(of: id)
        // A removal that is not durable must not make a replica drop anything.
        guard let hub = ledger.history(of: id), durable > 0, hub.horizon <= durable else { return nil }
        let startsOver = hub.startsOver(since: request.since, horizon: request.horizon)
        let page = hub.page(after: startsOver ? 0 : request.since?.sequence ?? 0, through: durable)
        return SyncResponse(
            cursor: hub.epochCursor(at: page.cursor), serverTime: options.now(of: id.account), isInitial: startsOver,
            hasMore: page.hasMore, changes: page.changes, horizon: hub.horizon, lineage: startsOver ? hub.lineage : [])
    }
}

extension StoreStamp {
    /// The stamp of a write by the server: greater than the present one, and not before its clock.
    package static func next(after present: StoreStamp?, now: Int64, replica: ReplicaID) -> StoreStamp {
        guard let present, present.milliseconds >= now else {
            return StoreStamp(milliseconds: now, counter: 0, replica: replica)
        }
        if present.counter == .max {
            return StoreStamp(milliseconds: present.milliseconds + 1, counter: 0, replica: replica)
        }
        return StoreStamp(milliseconds: present.milliseconds, counter: present.counter + 1, replica: replica)
    }
}
