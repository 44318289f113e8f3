import KVStore

/// A key as people ask for it.
struct StoredKey: Sendable, Equatable {
    var record: Record
    var sequence: UInt64
}

/// A store at a glance.
struct StoreSummary: Sendable, Equatable {
    var id: StoreID
    var epoch: String
    var sequence: UInt64
    var keyCount: Int
    var byteCount: Int
}

extension StoreKeeper {
    /// Push and pull. The answer comes after all that it acknowledges and tells is on disk.
    func sync(_ request: SyncRequest, store id: StoreID) async throws(StoreFault) -> SyncResponse {
        do throws(StoreFault) {
            return try await commit { keeper throws(StoreFault) in
                try keeper.apply(request, to: id)
            }
        } catch .diskFailed(let text) {
            // Reading goes on with what earlier syncs have covered.
            guard request.changes.isEmpty else { throw .diskFailed(text) }
            return try await read { keeper throws(StoreFault) in
                guard let response = keeper.durableAnswer(to: request, store: id) else {
                    throw .diskFailed(text)
                }
                return response
            }
        }
    }

    /// Writes a key for a person: stamped here, later than what stands there. An equal value
    /// changes nothing.
    func write(
        _ content: Record.Content, forKey key: String, store id: StoreID, replica: ReplicaID
    ) async throws(StoreFault) -> Result<StoredKey, KeyRefusal> {
        try await commit { keeper throws(StoreFault) in
            let present = keeper.ledger.hub(id)?.entries[key]
            let old = present?.record.content ?? .tombstone
            if old == content {
                guard let present, content != .tombstone else { return .failure(.missing) }
                return .success(StoredKey(record: present.record, sequence: present.sequence))
            }
            let stamp = PersonalStamp.next(
                after: present?.record.stamp, now: keeper.options.now(), replica: replica)
            let record = Record(key: key, stamp: stamp, content: content)
            let request = SyncRequest(
                replica: replica.description, epoch: keeper.ledger.hub(id)?.epoch,
                since: keeper.ledger.hub(id)?.sequence ?? 0, changes: [SyncChange(record)])
            let response = try keeper.apply(request, to: id)
            if let rejection = response.rejected.first { return .failure(.rejected(rejection)) }
            let sequence = keeper.ledger.hub(id)?.entries[key]?.sequence ?? 0
            return .success(StoredKey(record: record, sequence: sequence))
        }
    }

    /// On the owner only.
    private func apply(
        _ request: SyncRequest, to id: StoreID
    ) throws(StoreFault) -> SyncResponse {
        let before = ledger.hub(id).map { (sequence: $0.sequence, epoch: $0.epoch) }
        if before == nil,
            ledger.stores(ofAccount: id.account).count >= options.storesPerAccount
        {
            throw .tooManyStores(limit: options.storesPerAccount)
        }
        do throws(HubLedger.Fault) {
            let response = try ledger.apply(request, to: id, now: options.now())
            let stored = Int((ledger.hub(id)?.sequence ?? 0) - (before?.sequence ?? 0))
            guard
                stored > 0 || ledger.hub(id)?.epoch != before?.epoch
                    || !response.rejected.isEmpty
            else { return response }
            let byteCount =
                stored == 0
                ? 0 : request.changes.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.count ?? 0) }
            noteStored(
                id, recordCount: stored, byteCount: byteCount, refused: response.rejected.count)
            return response
        } catch {
            throw StoreFault(error)
        }
    }

    /// What a pull alone is answered with after the disk has failed. On the owner only.
    private func durableAnswer(to request: SyncRequest, store id: StoreID) -> SyncResponse? {
        let durable = ledger.durableSequence(of: id)
        guard let hub = ledger.hub(id), durable > 0 else { return nil }
        let startsOver = hub.startsOver(
            epoch: request.epoch, since: request.since, horizon: request.horizon)
        let page = hub.page(after: startsOver ? 0 : request.since, through: durable)
        return SyncResponse(
            epoch: hub.epoch(at: page.cursor), cursor: page.cursor, serverTime: options.now(),
            initial: startsOver, more: page.hasMore, changes: page.changes, horizon: hub.horizon,
            lineage: startsOver ? hub.lineage : nil)
    }
}

/// Why a person's write of a key was not taken.
enum KeyRefusal: Error, Sendable, Equatable {
    /// There is no such key to remove.
    case missing
    case rejected(SyncRejection)
}

/// The stamp of a write that the daemon makes for a person.
enum PersonalStamp {
    /// Later than the present record's, and never earlier than the daemon's clock.
    static func next(after present: Stamp?, now: Int64, replica: ReplicaID) -> Stamp {
        guard let present, present.milliseconds >= now else {
            return Stamp(milliseconds: now, counter: 0, replica: replica)
        }
        if present.counter == .max {
            return Stamp(milliseconds: present.milliseconds + 1, counter: 0, replica: replica)
        }
        return Stamp(
            milliseconds: present.milliseconds, counter: present.counter + 1, replica: replica)
    }
}
