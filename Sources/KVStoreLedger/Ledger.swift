package import KVStoreCore
package import KVStoreLog
package import LocalFiles

/// All stores of a daemon, with the log that remembers them. Not thread-safe: one owner calls it; only
/// `PendingSync.sync.perform()` may run concurrently.
///
/// Order contract: an answer of `apply` may be sent only after a sync that was prepared after it has finished
/// without failure. `durableSequence` bounds what live readers may see.
package final class Ledger {
    package struct Options: Sendable {
        package var segmentByteCount = 16 * 1_024 * 1_024
        /// Bytes of all values beyond which changes that grow are refused; memory holds them all.
        package var liveByteLimit = 1 << 30
        package var page = WireLimits.page
        /// Bytes of old segments that one compaction step examines.
        package var compactionByteCount = 1 << 20

        package init() {}
    }

    struct Store {
        var hub: Hub
        var durableSequence: UInt64 = 0
        /// Whether the present epoch began after the log was opened.
        var hasBegun = false
        /// Where the frame of each key stands.
        var positions: [StoreKey: LogPosition] = [:]
        /// Where the frame of the store's state stands.
        var statePosition: LogPosition?
    }

    package let recovery: LogRecovery
    let log: SegmentedLog
    let options: Options
    var stores: [StoreID: Store] = [:]
    private var random: SplitMix64
    /// Stores with appended entries that no sync has covered.
    private var unsynced: Set<StoreID> = []
    /// Bytes of all values.
    package private(set) var liveByteCount = 0
    /// Bytes of the live frames, for compaction.
    private(set) var liveFrameByteCount = 0
    var compaction = CompactionProgress()

    /// Opens the log. Damage is an error that names the file and the offset.
    package init(
        storage: any LogStorage, options: Options = Options(), seed: UInt64
    ) throws(LogError) {
        random = SplitMix64(seed: seed)
        self.options = options
        log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(
                segmentByteCount: options.segmentByteCount, isShared: false,
                newLogID: random.next()))
        var stores: [StoreID: Store] = [:]
        var unknown: LogDamage?
        recovery = try log.open { frame in
            guard let entry = LedgerEntry(frame) else {
                unknown =
                    unknown
                    ?? LogDamage(
                        path: storage.path(segment: frame.position.segment),
                        offset: frame.position.offset,
                        detail: "a record of unknown kind \(frame.kind)")
                return
            }
            Self.replay(entry, at: frame.position, into: &stores)
        }
        if let unknown { throw .damaged(unknown) }
        // What was found may exist in the page cache only; nothing of it is served before it is durable.
        try log.sync()
        for id in stores.keys {
            stores[id]!.hub.finishLoading()
            stores[id]!.durableSequence = stores[id]!.hub.sequence
        }
        self.stores = stores
        liveByteCount = stores.values.reduce(0) { $0 + $1.hub.byteCount }
        liveFrameByteCount = stores.reduce(0) { total, store in
            store.value.hub.entries.values.reduce(
                total + LedgerEntry.frameByteCount(store.value.hub.state, of: store.key)
            ) { $0 + LedgerEntry.frameByteCount($1, of: store.key) }
        }
        // What was cut was most likely never acknowledged. But if a byte of the disk changed instead, a replica holds
        // what is missing here, and must not accept new numbers for those it knows.
        if !recovery.cutWrites.isEmpty {
            try renewEpochs()
            try log.sync()
        }
    }

    private static func replay(
        _ entry: LedgerEntry, at position: LogPosition, into stores: inout [StoreID: Store]
    ) {
        switch entry {
        case .record(let id, let entry):
            stores[id, default: Store(hub: Hub())].hub.load(entry)
            stores[id]!.positions[entry.record.key] = position
        case .state(let id, let state):
            stores[id, default: Store(hub: Hub())].hub.load(state)
            stores[id]!.statePosition = position
        case .forgotten(let id, let key):
            stores[id]?.hub.forget(key)
            // A power failure may have kept this and lost the tombstone: then the value keeps its position.
            if stores[id]?.hub.entries[key] == nil { stores[id]?.positions[key] = nil }
        }
    }

    // MARK: - Requests

    /// Applies the changes of a request and returns the answer, which must wait for a sync. The first request for a
    /// store creates it. Throws `full` if the values would exceed `liveByteLimit`; nothing has changed then.
    package func apply(
        _ request: SyncRequest, to id: StoreID, now: Int64
    ) throws(LogError) -> SyncResponse {
        if stores[id] == nil { try create(id) }
        let plan = stores[id]!.hub.plan(request.changes, now: now)
        if plan.growth > 0, liveByteCount + plan.growth > options.liveByteLimit {
            throw .full(limit: options.liveByteLimit)
        }
        try append(beginning(of: id, with: plan) + plan.accepted.map { .record(id, $0) })
        let keys = Set(plan.accepted.map(\.record.key))
        let before = frameByteCount(of: keys, in: id)
        stores[id]!.hub.commit(plan)
        liveByteCount += plan.growth
        liveFrameByteCount += frameByteCount(of: keys, in: id) - before
        let answer = stores[id]!.hub.answer(
            request, plan: plan, now: now, page: options.page)
        // In batches, so that many removals share the cost of the search. If it fails a later request tries again.
        if !plan.accepted.isEmpty,
            stores[id]!.hub.tombstoneCount > WireLimits.tombstoneCount + 256
        {
            try? collectTombstones(of: id, now: now)
        }
        return answer
    }

    /// The stores of an account that have ever been used, sorted by name.
    package func stores(ofAccount account: String) -> [StoreID] {
        stores.keys.filter { $0.account == account }.sorted()
    }

    /// All stores, sorted by account and name.
    package var allStores: [StoreID] { stores.keys.sorted() }

    package var storeCount: Int { stores.count }

    package func hub(_ id: StoreID) -> Hub? { stores[id]?.hub }

    /// Live readers of a store may see changes up to it.
    package func durableSequence(of id: StoreID) -> UInt64 { stores[id]?.durableSequence ?? 0 }

    /// Forgets the tombstones of a store that are due.
    package func collectTombstones(of id: StoreID, now: Int64) throws(LogError) {
        guard let expired = stores[id]?.hub.expiredTombstones(now: now), !expired.isEmpty else {
            return
        }
        let keys = expired.map(\.record.key)
        var hub = stores[id]!.hub
        for key in keys { hub.forget(key) }
        // The horizon comes first: without it a removal would be forgotten unnoticed.
        try append([.state(id, hub.state)] + keys.map { .forgotten(id, $0) })
        for key in keys { stores[id]!.positions[key] = nil }
        liveFrameByteCount -= frameByteCount(of: Set(keys), in: id)
        stores[id]!.hub = hub
    }

    /// Begins a new epoch of every store and makes all readers start over, after history may have been lost.
    package func renewEpochs() throws(LogError) {
        for id in allStores {
            let state = stores[id]!.hub.state.beginning(newEpochID(), breakingEarlierEpochs: true)
            try append([.state(id, state)])
        }
    }

    private func create(_ id: StoreID) throws(LogError) {
        try append([.state(id, Hub.State(epochs: []).beginning(newEpochID()))])
    }

    /// The first change after a start begins an epoch.
    private func beginning(of id: StoreID, with plan: Hub.Plan) -> [LedgerEntry] {
        guard !plan.accepted.isEmpty, let store = stores[id], !store.hasBegun else { return [] }
        return [.state(id, store.hub.state.beginning(newEpochID()))]
    }

    private func newEpochID() -> EpochID { EpochID(rawValue: random.next()) }

    private func frameByteCount(of keys: Set<StoreKey>, in id: StoreID) -> Int {
        keys.reduce(0) { total, key in
            total
                + (stores[id]?.hub.entries[key].map { LedgerEntry.frameByteCount($0, of: id) } ?? 0)
        }
    }

    /// Appends entries. States take effect at once, records with the caller's commit.
    private func append(_ entries: [LedgerEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        let positions = try log.append(entries.map(\.payload))
        for (entry, position) in zip(entries, positions) {
            switch entry {
            case .record(let id, let entry):
                stores[id]!.positions[entry.record.key] = position
                unsynced.insert(id)
            case .state(let id, _):
                let before = stores[id].map { LedgerEntry.frameByteCount($0.hub.state, of: id) }
                let epoch = stores[id]?.hub.end.epoch
                Self.replay(entry, at: position, into: &stores)
                let hub = stores[id]!.hub
                if hub.end.epoch != epoch { stores[id]!.hasBegun = true }
                liveFrameByteCount +=
                    LedgerEntry.frameByteCount(hub.state, of: id) - (before ?? 0)
                unsynced.insert(id)
            case .forgotten: break
            }
        }
    }

    // MARK: - Disk

    /// Throws `closedByFailure` after a failed sync.
    package func checkOpen() throws(LogError) { try log.checkOpen() }

    /// Whether everything appended is durable.
    package var isDurable: Bool { log.isDurable }

    /// A sync, and what it makes durable.
    package struct PendingSync: Sendable {
        package let sync: SegmentedLog.PendingSync
        fileprivate let sequences: [StoreID: UInt64]
    }

    /// Nil when everything is durable.
    package func prepareSync() throws(LogError) -> PendingSync? {
        guard let sync = try log.prepareSync() else {
            noteDurable(unsyncedSequences)
            return nil
        }
        return PendingSync(sync: sync, sequences: unsyncedSequences)
    }

    private var unsyncedSequences: [StoreID: UInt64] {
        unsynced.reduce(into: [:]) { $0[$1] = stores[$1]?.hub.sequence }
    }

    /// Records the outcome of a sync; returns the stores with changes that live readers may now see.
    ///
    /// Throws `closedByFailure` if this sync or a concurrent one failed: nothing may be acknowledged then.
    @discardableResult
    package func finish(
        _ pending: PendingSync, failure: FileError?
    ) throws(LogError) -> Set<StoreID> {
        try log.finish(pending.sync, failure: failure)
        return noteDurable(pending.sequences)
    }

    /// Blocks until everything appended is durable. Once it throws, nothing more is written: `closedByFailure`.
    package func sync() throws(LogError) {
        try log.sync()
        noteDurable(unsyncedSequences)
    }

    @discardableResult
    private func noteDurable(_ sequences: [StoreID: UInt64]) -> Set<StoreID> {
        var advanced: Set<StoreID> = []
        for (id, sequence) in sequences {
            if sequence > stores[id]!.durableSequence {
                stores[id]!.durableSequence = sequence
                advanced.insert(id)
            }
            if stores[id]!.hub.sequence == sequence { unsynced.remove(id) }
        }
        return advanced
    }

    package func close() throws(LogError) { try log.close() }
}
