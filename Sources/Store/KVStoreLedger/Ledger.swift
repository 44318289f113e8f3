// All stores of a daemon and the log that remembers them: deciding, appending, recovery,
// compaction, removal and backup. Not here: threads, requests and accounts' devices
// (KVStoreServer).

package import KVStoreCore
package import KVStoreLog

/// All stores of a daemon, with the log that remembers them. Not thread-safe: one owner calls it; only
/// `perform()` of what is pending may run concurrently.
///
/// Order contract: an answer of `apply` may be sent only after a sync that was prepared after it has finished
/// without failure. `durableSequence` bounds what live readers may see.
package final class Ledger {
    package struct Options: Sendable {
        package var segmentByteCount = 16 * 1_024 * 1_024
        /// Memory of all records beyond which changes that grow are refused.
        package var memoryByteLimit = 1 << 30
        package var page = WireLimits.page
        /// Removed stores that are remembered: per account, or in total if accounts are not isolated.
        package var removalCount = 4_096
        /// Whether an account learns nothing of others. Otherwise an account that is gone takes no memory.
        package var isolatesAccounts = true
        /// Bytes of old segments that one compaction step examines.
        package var compactionByteCount = 1 << 20
        /// Whether what appends throws `needsSegment`, where the log needs its next segment, instead of creating it.
        /// The owner creates it, when everything is durable, and tries again: nothing that counts has changed then.
        package var defersSegments = false

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
        /// Whether the store was removed and not created again. It has no records then, and is in no list.
        var isRemoved = false
        /// Where the frame of its last removal stands.
        var removalPosition: LogPosition?

        init(_ id: StoreID) { self.id = id }

        var stateEntry: LedgerEntry {
            isRemoved ? .removed(id, hub.state) : .state(id, hub.state)
        }
    }

    package let recovery: LogRecovery
    let log: SegmentedLog
    let options: Options
    /// Removed stores included.
    var stores: [StoreID: Store] = [:]
    var storesByAccount: [String: [StoreID]] = [:]
    /// Removed stores, for each account if they are isolated.
    var removals: [String: RemovalQueue] = [:]
    private let seed: UInt64
    /// Generates the ids of epochs, one for each account if they are isolated: an id gives away the state of its
    /// generator, which must not say how often the stores of another account were created or removed.
    private var random: [String: SplitMix64] = [:]
    /// Stores with appended entries that no sync has covered.
    var unsynced: [Store] = []
    /// Stores whose durable sequence has advanced, for `takeAdvanced`.
    var advanced: [StoreID] = []
    /// The segment after which space has been prepared.
    var preparedAfter: UInt64?
    var memory = MemoryUse()
    /// Bytes of the live frames, for compaction.
    var liveFrameByteCount = 0
    /// Live frames of each segment that has any: one without is removed unread.
    var liveFrames = LiveFrames()
    var compaction = CompactionProgress()

    /// Opens the log. Damage is an error that names the file and the offset.
    package init(storage: any LogStorage, options: Options = Options(), seed: UInt64) throws(LogError) {
        var random = SplitMix64(seed: seed)
        let logID = random.next()
        self.seed = random.next()
        self.options = options
        log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(segmentByteCount: options.segmentByteCount, isShared: false, newLogID: logID))
        var stores: [StoreID: Store] = [:]
        var unknown: LogDamage?
        recovery = try log.open { frame in
            guard let entry = LedgerEntry(frame) else {
                unknown = unknown ?? Self.unknownKind(frame, in: storage)
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
        let present = stores.values.filter { !$0.isRemoved }.map(\.id)
        storesByAccount = Dictionary(grouping: present, by: \.account)
        storeCount = present.count
        recordRemovals()
        for store in stores.values {
            memory.add(Self.memoryByteCount(of: store.hub), account: store.id.account)
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
        log.defersSegments = options.defersSegments
    }

    static func replay(_ entry: LedgerEntry, at position: LogPosition, into stores: inout [StoreID: Store]) {
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
            // A power failure may have kept this and lost the state before it.
            store.isRemoved = false
        case .state(let id, let state):
            let store = store(id)
            store.hub.load(state)
            store.statePosition = position
            store.isRemoved = false
        case .removed(let id, let state):
            let store = store(id)
            store.hub = Hub(state)
            store.positions = [:]
            store.statePosition = position
            store.removalPosition = position
            store.isRemoved = true
        case .forgotten(let id, let key):
            guard let store = stores[id] else { return }
            store.hub.forget(key)
            // A power failure may have kept this and lost the tombstone: then the value keeps its position.
            if store.hub.entries[key] == nil { store.positions[key] = nil }
        }
    }

    // MARK: - Requests

    /// What an account may have. Nil is no limit.
    package struct AccountLimits: Sendable {
        package var byteCount: Int?
        package var storeCount: Int?

        package init(byteCount: Int? = nil, storeCount: Int? = nil) {
            self.byteCount = byteCount
            self.storeCount = storeCount
        }
    }

    /// Applies the changes of a request and returns the answer, which must wait for a sync. The first request for a
    /// store creates it; a removed one is created again by a change. Throws `tooManyStores` or `accountFull` if the
    /// account would exceed its limits, and `full` if the memory of all would exceed `memoryByteLimit`; nothing has
    /// changed then.
    package func apply(
        _ request: SyncRequest, to id: StoreID, now: Int64, limits: AccountLimits = AccountLimits()
    ) throws(LogError) -> SyncResponse {
        if request.changes.isEmpty, let removed = stores[id], removed.isRemoved {
            return removed.hub.answer(request, plan: Hub.Plan(), now: now, page: options.page)
        }
        let (store, plan) = try accept(request.changes, in: id, now: now, limits: limits)
        return store.hub.answer(request, plan: plan, now: now, page: options.page)
    }

    /// Applies changes as `apply` does; returns what became of them.
    package func accept(
        _ changes: [StoreRecord], to id: StoreID, now: Int64, limits: AccountLimits = AccountLimits()
    ) throws(LogError) -> Hub.Plan {
        try accept(changes, in: id, now: now, limits: limits).plan
    }

    private func accept(
        _ changes: [StoreRecord], in id: StoreID, now: Int64, limits: AccountLimits
    ) throws(LogError) -> (store: Store, plan: Hub.Plan) {
        let known = stores[id]
        let isPresent = known.map { !$0.isRemoved } ?? false
        if !isPresent, let limit = limits.storeCount, storeCount(ofAccount: id.account) >= limit {
            throw .tooManyStores(limit: limit)
        }
        let (plan, growth) = Self.plan(changes, in: known?.hub ?? Hub(), now: now)
        if growth > 0 {
            if let limit = limits.byteCount, memory.byteCount(ofAccount: id.account) + growth > limit {
                throw .accountFull(limit: limit)
            }
            if memoryByteCount + growth > options.memoryByteLimit {
                throw .full(limit: options.memoryByteLimit)
            }
        }
        let store = if let known, isPresent { known } else { try create(id) }
        guard !plan.accepted.isEmpty else { return (store, plan) }
        var entries = plan.accepted.map { LedgerEntry.record(id, $0) }
        if !store.hasBegun { entries.insert(beginning(of: store), at: 0) }
        try append(entries, of: store)
        store.hub.commit(plan) { former, entry in
            liveFrameByteCount += LedgerEntry.frameByteCount(entry, of: id)
            if let former { liveFrameByteCount -= LedgerEntry.frameByteCount(former, of: id) }
        }
        acceptedCount += plan.accepted.count
        memory.add(growth, account: id.account)
        // In batches, so that many removals share the cost of the search. If it fails a later request tries again.
        if store.hub.tombstoneCount > WireLimits.tombstoneCount + 256 {
            try? collectTombstones(of: id, now: now)  // collected with a later commit
        }
        return (store, plan)
    }

    /// Keeps no copy of the hub that its change would have to copy.
    private static func plan(_ changes: [StoreRecord], in hub: Hub, now: Int64) -> (Hub.Plan, memoryGrowth: Int) {
        let plan = hub.plan(changes, now: now)
        return (plan, memoryGrowth(of: plan, in: hub))
    }

    package static func memoryGrowth(of plan: Hub.Plan, in hub: Hub) -> Int {
        var planned: [StoreKey: StoreRecord] = [:]
        return plan.accepted.reduce(0) { total, entry in
            let record = entry.record
            let former = planned[record.key] ?? hub.entries[record.key]?.record
            if plan.accepted.count > 1 { planned[record.key] = record }
            return total + memoryByteCount(of: record) - (former.map { memoryByteCount(of: $0) } ?? 0)
        }
    }

    /// The stores of an account, sorted by name.
    package func stores(ofAccount account: String) -> [StoreID] {
        storesByAccount[account, default: []].sorted()
    }

    /// All stores, sorted by account and name.
    package var allStores: [StoreID] { storesByAccount.values.flatMap(\.self).sorted() }

    package internal(set) var storeCount = 0

    /// Changes that were accepted since the log was opened.
    package private(set) var acceptedCount = 0

    package func hub(_ id: StoreID) -> Hub? { present(id)?.hub }

    /// Where the history of a store ends; nil for an unknown store.
    package func end(of id: StoreID) -> SyncCursor? { present(id)?.hub.end }

    /// What readers of a store see: a removed one is empty. Nil for an unknown store.
    package func history(of id: StoreID) -> Hub? { stores[id]?.hub }

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
        guard let store = present(id) else { return }
        let expired = store.hub.expiredTombstones(now: now)
        guard !expired.isEmpty else { return }
        let keys = expired.map(\.record.key)
        var hub = store.hub
        for key in keys { hub.forget(key) }
        // The horizon comes first: without it a removal would be forgotten unnoticed.
        try append([.state(id, hub.state)] + keys.map { .forgotten(id, $0) }, of: store)
        for key in keys {
            liveFrames.move(from: store.positions.removeValue(forKey: key), to: nil)
        }
        for entry in expired {
            liveFrameByteCount -= LedgerEntry.frameByteCount(entry, of: id)
            memory.add(-Self.memoryByteCount(of: entry.record), account: id.account)
        }
        store.hub = hub
    }

    /// Begins a new epoch of every store and makes all readers start over, after history may have been lost. Creates
    /// segments at once.
    package func renewEpochs() throws(LogError) {
        log.defersSegments = false
        defer { log.defersSegments = options.defersSegments }
        for id in allStores {
            let store = stores[id]!
            let state = store.hub.state.beginning(newEpochID(for: id), breakingEarlierEpochs: true)
            try append([.state(id, state)], of: store)
        }
    }

    /// The first change after a start begins an epoch.
    private func beginning(of store: Store) -> LedgerEntry {
        .state(store.id, store.hub.state.beginning(newEpochID(for: store.id)))
    }

    /// The id of the account's next epoch. A state with it uses it up when it is appended, so that a failure leaves no
    /// trace in later ids.
    func newEpochID(for id: StoreID) -> EpochID {
        let scope = scope(of: id)
        var generator = random[scope] ?? SplitMix64(seed: seed, account: scope)
        return EpochID(rawValue: generator.next())
    }

    private func useEpochID(of id: StoreID) {
        let scope = scope(of: id)
        _ = random[scope, default: SplitMix64(seed: seed, account: scope)].next()
    }

    /// What removals and the ids of epochs are kept by.
    func scope(of id: StoreID) -> String { options.isolatesAccounts ? id.account : "" }

    /// Appends entries of a store, which need not be among `stores` yet. States take effect at once, records with the
    /// caller's commit.
    func append(_ entries: [LedgerEntry], of store: Store) throws(LogError) {
        let positions = try log.append(entries.map(\.payload))
        for (entry, position) in zip(entries, positions) {
            switch entry {
            case .record(_, let entry): place(entry.record.key, of: store, at: position)
            case .state(let id, _), .removed(let id, _):
                // A new one has no state whose frame this replaces.
                let before = stores.updateValue(store, forKey: id).map {
                    LedgerEntry.frameByteCount($0.hub.state, of: id)
                }
                let epoch = store.hub.end.epoch
                liveFrames.move(from: store.statePosition, to: position)
                Self.replay(entry, at: position, into: &stores)
                if store.hub.end.epoch != epoch {
                    store.hasBegun = true
                    useEpochID(of: id)
                }
                liveFrameByteCount += LedgerEntry.frameByteCount(store.hub.state, of: id) - (before ?? 0)
            case .forgotten: break
            }
        }
        markUnsynced(store)
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

    private func markUnsynced(_ store: Store) {
        guard !store.isUnsynced else { return }
        store.isUnsynced = true
        unsynced.append(store)
    }
}

extension SplitMix64 {
    fileprivate init(seed: UInt64, account: String) {
        self.init(seed: seed)
        for byte in account.utf8 { self = SplitMix64(seed: next() ^ UInt64(byte)) }
    }
}
