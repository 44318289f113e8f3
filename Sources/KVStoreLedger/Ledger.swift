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
        /// Memory of all records beyond which changes that grow are refused.
        package var memoryByteLimit = 1 << 30
        package var page = WireLimits.page
        /// Bytes of old segments that one compaction step examines.
        package var compactionByteCount = 1 << 20

        package init() {}
    }

    final class Store {
        let id: StoreID
        var hub = Hub()
        var durableSequence: UInt64 = 0
        /// Whether entries have been appended that no sync has covered.
        var isUnsynced = false
        /// Whether the present epoch began after the log was opened.
        var hasBegun = false
        /// Where the frame of each key stands.
        var positions: [StoreKey: LogPosition] = [:]
        /// Where the frame of the store's state stands.
        var statePosition: LogPosition?

        init(_ id: StoreID) { self.id = id }
    }

    package let recovery: LogRecovery
    let log: SegmentedLog
    let options: Options
    var stores: [StoreID: Store] = [:]
    private var storesByAccount: [String: [StoreID]] = [:]
    private var random: SplitMix64
    /// Stores with appended entries that no sync has covered.
    private var unsynced: [Store] = []
    /// Stores whose durable sequence has advanced, for `takeAdvanced`.
    private var advanced: [StoreID] = []
    /// The segment after which space has been prepared.
    private var preparedAfter: UInt64?
    /// Memory of all records, estimated.
    package private(set) var memoryByteCount = 0
    /// Bytes of the live frames, for compaction.
    private(set) var liveFrameByteCount = 0
    /// Live frames of each segment that has any: one without is removed unread.
    var liveFrames = LiveFrames()
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
        for store in stores.values {
            store.hub.finishLoading()
            store.durableSequence = store.hub.sequence
        }
        self.stores = stores
        storesByAccount = Dictionary(grouping: stores.keys, by: \.account)
        memoryByteCount = stores.values.reduce(0) { total, store in
            store.hub.entries.values.reduce(total) { $0 + Self.memoryByteCount(of: $1.record) }
        }
        liveFrameByteCount = stores.values.reduce(0) { total, store in
            store.hub.entries.values.reduce(
                total + LedgerEntry.frameByteCount(store.hub.state, of: store.id)
            ) { $0 + LedgerEntry.frameByteCount($1, of: store.id) }
        }
        for store in stores.values {
            for position in store.positions.values { liveFrames.move(from: nil, to: position) }
            if let position = store.statePosition { liveFrames.move(from: nil, to: position) }
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
        func store(_ id: StoreID) -> Store {
            if let store = stores[id] { return store }
            let store = Store(id)
            stores[id] = store
            return store
        }
        switch entry {
        case .record(let id, let entry):
            let store = store(id)
            store.hub.load(entry)
            store.positions[entry.record.key] = position
        case .state(let id, let state):
            let store = store(id)
            store.hub.load(state)
            store.statePosition = position
        case .forgotten(let id, let key):
            guard let store = stores[id] else { return }
            store.hub.forget(key)
            // A power failure may have kept this and lost the tombstone: then the value keeps its position.
            if store.hub.entries[key] == nil { store.positions[key] = nil }
        }
    }

    // MARK: - Requests

    /// Applies the changes of a request and returns the answer, which must wait for a sync. The first request for a
    /// store creates it. Throws `full` if memory would exceed `memoryByteLimit`; nothing has changed then.
    package func apply(
        _ request: SyncRequest, to id: StoreID, now: Int64
    ) throws(LogError) -> SyncResponse {
        let (store, plan) = try accept(request.changes, in: id, now: now)
        return store.hub.answer(request, plan: plan, now: now, page: options.page)
    }

    /// Applies changes as `apply` does; returns what became of them.
    package func accept(
        _ changes: [Record], to id: StoreID, now: Int64
    ) throws(LogError) -> Hub.Plan {
        try accept(changes, in: id, now: now).plan
    }

    private func accept(
        _ changes: [Record], in id: StoreID, now: Int64
    ) throws(LogError) -> (store: Store, plan: Hub.Plan) {
        let store = if let known = stores[id] { known } else { try create(id) }
        let plan = store.hub.plan(changes, now: now)
        guard !plan.accepted.isEmpty else { return (store, plan) }
        let growth = memoryGrowth(of: plan, in: store)
        if growth > 0, memoryByteCount + growth > options.memoryByteLimit {
            throw .full(limit: options.memoryByteLimit)
        }
        try append(beginning(of: store) + plan.accepted.map { .record(id, $0) })
        store.hub.commit(plan) { former, entry in
            liveFrameByteCount += LedgerEntry.frameByteCount(entry, of: id)
            if let former { liveFrameByteCount -= LedgerEntry.frameByteCount(former, of: id) }
        }
        memoryByteCount += growth
        // In batches, so that many removals share the cost of the search. If it fails a later request tries again.
        if store.hub.tombstoneCount > WireLimits.tombstoneCount + 256 {
            try? collectTombstones(of: id, now: now)
        }
        return (store, plan)
    }

    private func memoryGrowth(of plan: Hub.Plan, in store: Store) -> Int {
        var planned: [StoreKey: Record] = [:]
        return plan.accepted.reduce(0) { total, entry in
            let record = entry.record
            let former = planned[record.key] ?? store.hub.entries[record.key]?.record
            if plan.accepted.count > 1 { planned[record.key] = record }
            return total + Self.memoryByteCount(of: record)
                - (former.map(Self.memoryByteCount) ?? 0)
        }
    }

    /// What a record, or the tombstone of one, takes in memory: 330 bytes besides a short key and its value were measured.
    package static func memoryByteCount(of record: Record) -> Int {
        384 + 2 * record.key.text.utf8.count + record.content.byteCount
    }

    /// The stores of an account that have ever been used, sorted by name.
    package func stores(ofAccount account: String) -> [StoreID] {
        storesByAccount[account, default: []].sorted()
    }

    /// All stores, sorted by account and name.
    package var allStores: [StoreID] { stores.keys.sorted() }

    package var storeCount: Int { stores.count }

    package func hub(_ id: StoreID) -> Hub? { stores[id]?.hub }

    /// Where the history of a store ends; nil for an unknown store.
    package func end(of id: StoreID) -> Cursor? { stores[id]?.hub.end }

    /// The record of a key, a tombstone included.
    package func entry(of key: StoreKey, in id: StoreID) -> SequencedRecord? {
        stores[id]?.hub.entries[key]
    }

    package func storeCount(ofAccount account: String) -> Int {
        storesByAccount[account, default: []].count
    }

    /// Live readers of a store may see changes up to it.
    package func durableSequence(of id: StoreID) -> UInt64 { stores[id]?.durableSequence ?? 0 }

    /// Forgets the tombstones of a store that are due.
    package func collectTombstones(of id: StoreID, now: Int64) throws(LogError) {
        guard let store = stores[id] else { return }
        let expired = store.hub.expiredTombstones(now: now)
        guard !expired.isEmpty else { return }
        let keys = expired.map(\.record.key)
        var hub = store.hub
        for key in keys { hub.forget(key) }
        // The horizon comes first: without it a removal would be forgotten unnoticed.
        try append([.state(id, hub.state)] + keys.map { .forgotten(id, $0) })
        for key in keys {
            liveFrames.move(from: store.positions.removeValue(forKey: key), to: nil)
        }
        for entry in expired {
            liveFrameByteCount -= LedgerEntry.frameByteCount(entry, of: id)
            memoryByteCount -= Self.memoryByteCount(of: entry.record)
        }
        store.hub = hub
    }

    /// Begins a new epoch of every store and makes all readers start over, after history may have been lost.
    package func renewEpochs() throws(LogError) {
        for id in allStores {
            let state = stores[id]!.hub.state.beginning(newEpochID(), breakingEarlierEpochs: true)
            try append([.state(id, state)])
        }
    }

    private func create(_ id: StoreID) throws(LogError) -> Store {
        try append([.state(id, Hub.State(epochs: []).beginning(newEpochID()))])
        storesByAccount[id.account, default: []].append(id)
        return stores[id]!
    }

    /// The first change after a start begins an epoch.
    private func beginning(of store: Store) -> [LedgerEntry] {
        guard !store.hasBegun else { return [] }
        return [.state(store.id, store.hub.state.beginning(newEpochID()))]
    }

    private func newEpochID() -> EpochID { EpochID(rawValue: random.next()) }

    /// Appends entries. States take effect at once, records with the caller's commit.
    private func append(_ entries: [LedgerEntry]) throws(LogError) {
        guard !entries.isEmpty else { return }
        let positions = try log.append(entries.map(\.payload))
        for (entry, position) in zip(entries, positions) {
            switch entry {
            case .record(let id, let entry):
                let store = stores[id]!
                place(entry.record.key, of: store, at: position)
                noteUnsynced(store)
            case .state(let id, _):
                let before = stores[id].map { LedgerEntry.frameByteCount($0.hub.state, of: id) }
                let epoch = stores[id]?.hub.end.epoch
                liveFrames.move(from: stores[id]?.statePosition, to: position)
                Self.replay(entry, at: position, into: &stores)
                let store = stores[id]!
                if store.hub.end.epoch != epoch { store.hasBegun = true }
                liveFrameByteCount +=
                    LedgerEntry.frameByteCount(store.hub.state, of: id) - (before ?? 0)
                noteUnsynced(store)
            case .forgotten: break
            }
        }
    }

    /// The frame of a key has moved.
    func place(_ key: StoreKey, of store: Store, at position: LogPosition) {
        liveFrames.move(from: store.positions.updateValue(position, forKey: key), to: position)
    }

    /// The frame of a store's state has moved.
    func placeState(of store: Store, at position: LogPosition) {
        liveFrames.move(from: store.statePosition, to: position)
        store.statePosition = position
    }

    private func noteUnsynced(_ store: Store) {
        guard !store.isUnsynced else { return }
        store.isUnsynced = true
        unsynced.append(store)
    }

    // MARK: - Disk

    /// Throws `closedByFailure` after a failed sync.
    package func checkOpen() throws(LogError) { try log.checkOpen() }

    /// Whether everything appended is durable, and live readers may see it.
    package var isDurable: Bool { unsynced.isEmpty && log.isDurable }

    /// A sync, and what it makes durable. Unchecked because `sync` alone is used elsewhere than by the owner.
    package struct PendingSync: @unchecked Sendable {
        package let sync: SegmentedLog.PendingSync
        fileprivate let sequences: [(store: Store, sequence: UInt64)]
    }

    /// Nil when everything is durable.
    package func prepareSync() throws(LogError) -> PendingSync? {
        guard let sync = try log.prepareSync() else {
            noteDurable(unsyncedSequences)
            return nil
        }
        return PendingSync(sync: sync, sequences: unsyncedSequences)
    }

    private var unsyncedSequences: [(store: Store, sequence: UInt64)] {
        unsynced.map { ($0, $0.hub.sequence) }
    }

    /// Records the outcome of a sync.
    ///
    /// Throws `closedByFailure` if this sync or a concurrent one failed: nothing may be acknowledged then.
    package func finish(_ pending: PendingSync, failure: FileError?) throws(LogError) {
        try log.finish(pending.sync, failure: failure)
        noteDurable(pending.sequences)
    }

    /// Blocks until everything appended is durable. Once it throws, nothing more is written: `closedByFailure`.
    package func sync() throws(LogError) {
        try log.sync()
        noteDurable(unsyncedSequences)
    }

    /// Continues after a failed sync: writes all that is live in the segment to a new one, and makes everything that was
    /// appended durable, also what was not acknowledged. When it throws, the log remains closed.
    package func recover() throws(LogError) {
        guard log.isClosedByFailure else { return }
        let segment = log.activeSegment
        let states = stores.values.filter { $0.statePosition?.segment == segment }
        let records = stores.values.flatMap { store in
            store.hub.entries.values
                .filter { store.positions[$0.record.key]?.segment == segment }
                .map { (store: store, entry: $0) }
        }
        let positions = try log.recover(
            with: states.map { LedgerEntry.state($0.id, $0.hub.state).payload }
                + records.map { LedgerEntry.record($0.store.id, $0.entry).payload })
        for (store, position) in zip(states, positions) { placeState(of: store, at: position) }
        for (record, position) in zip(records, positions.dropFirst(states.count)) {
            place(record.entry.record.key, of: record.store, at: position)
        }
        noteDurable(unsyncedSequences)
    }

    private func noteDurable(_ sequences: [(store: Store, sequence: UInt64)]) {
        for (store, sequence) in sequences {
            if sequence > store.durableSequence {
                store.durableSequence = sequence
                advanced.append(store.id)
            }
            if store.hub.sequence == sequence { store.isUnsynced = false }
        }
        unsynced.removeAll { !$0.isUnsynced }
    }

    /// Work for another thread that makes the next segment fast; once for each segment, when it is half full, and for
    /// the first.
    package func spaceToPrepare() -> (@Sendable () -> Void)? {
        let end = log.end
        guard end.segment != preparedAfter,
            end.segment == 0 || end.offset > options.segmentByteCount / 2
        else { return nil }
        preparedAfter = end.segment
        return { [storage = log.storage, byteCount = options.segmentByteCount] in
            storage.prepareSpace(byteCount: byteCount)
        }
    }

    /// The stores with changes that live readers may see since the last call.
    package func takeAdvanced() -> [StoreID] {
        defer { advanced.removeAll() }
        return advanced
    }

    package func close() throws(LogError) { try log.close() }
}
