/// All stores of a daemon together with the log that remembers them. Not safe for threads: one owner
/// calls it; only `SegmentedLog.PendingSync.perform()` may run beside other calls.
///
/// Order contract: an answer of `apply` may be sent only after a sync that was prepared after it has been
/// finished without failure. `durableSequence` says what live readers may be told.
package final class HubLedger {
    package struct Options: Sendable {
        package var segmentByteCount = 16 * 1_024 * 1_024
        /// Bytes of live records beyond which changes are refused; memory holds them all.
        package var liveByteLimit = 1 << 30
        package var page = WireLimits.page
        /// Bytes of old segments that one step of compaction looks at.
        package var compactionByteCount = 1 << 20

        package init() {}
    }

    package enum Fault: Error, Equatable, Sendable {
        case log(LogError)
        /// The live data has reached its ceiling, in bytes.
        case full(limit: Int)
    }

    struct Store {
        var hub: Hub
        var durableSequence: UInt64
        /// Where the frame of each key stands.
        var places: [String: LogPosition] = [:]
        /// Where the frame of the store itself stands.
        var statePlace: LogPosition?
    }

    package let recovery: LogRecovery
    let log: SegmentedLog
    let options: Options
    var stores: [StoreID: Store] = [:]
    private var random: SplitMix64
    /// Stores whose present epoch has begun since the log was opened.
    private var begun: Set<StoreID> = []
    /// Stores with appended entries that no sync has covered.
    private var unsynced: Set<StoreID> = []
    /// Bytes of all values.
    package private(set) var liveByteCount = 0
    /// Bytes of the frames that count, for compaction.
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
            guard let entry = HubEntry(frame) else {
                unknown =
                    unknown
                    ?? LogDamage(
                        path: storage.path(segment: frame.position.segment),
                        offset: frame.position.offset,
                        detail: "a record that this program does not understand")
                return
            }
            Self.replay(entry, at: frame.position, into: &stores)
        }
        if let unknown { throw .damaged(unknown) }
        // What was found may be in the page cache only; nothing of it is told before it is on disk.
        try log.sync()
        for id in stores.keys {
            stores[id]!.hub.finishLoading()
            stores[id]!.durableSequence = stores[id]!.hub.sequence
        }
        self.stores = stores
        liveByteCount = stores.values.reduce(0) { $0 + $1.hub.byteCount }
        liveFrameByteCount = stores.reduce(0) { total, store in
            store.value.hub.entries.values.reduce(
                total + Self.stateFrameByteCount(store.value.hub, of: store.key)
            ) { $0 + Self.frameByteCount($1, of: store.key) }
        }
        // Most likely nobody was told of what has been cut. If a byte of the disk changed instead, a replica has
        // what is missing here, and must not take new numbers for those it knows.
        if !recovery.cutWrites.isEmpty {
            do throws(Fault) { try renewEpochs() } catch .log(let error) { throw error } catch {}
            try log.sync()
        }
    }

    private static func frameByteCount(_ entry: Hub.Entry, of id: StoreID) -> Int {
        FrameFormat.byteCount(
            payload: 33 + id.account.utf8.count + id.name.utf8.count
                + entry.record.key.utf8.count + entry.record.content.byteCount)
    }

    private static func stateFrameByteCount(_ hub: Hub, of id: StoreID) -> Int {
        FrameFormat.byteCount(
            payload: 26 + id.account.utf8.count + id.name.utf8.count
                + hub.epochs.reduce(0) { $0 + 10 + $1.id.utf8.count })
    }

    /// Bytes of the frames of these keys as they stand in memory.
    private func frameByteCount(ofKeys keys: Set<String>, of id: StoreID) -> Int {
        keys.reduce(0) { total, key in
            total + (stores[id]?.hub.entries[key].map { Self.frameByteCount($0, of: id) } ?? 0)
        }
    }

    private static func replay(
        _ entry: HubEntry, at place: LogPosition, into stores: inout [StoreID: Store]
    ) {
        switch entry {
        case .record(let id, let entry):
            stores[id, default: Store(hub: Hub(epoch: ""), durableSequence: 0)].hub.load(entry)
            stores[id]!.places[entry.record.key] = place
        case .store(let id, let state):
            stores[id, default: Store(hub: Hub(epoch: ""), durableSequence: 0)].hub
                .load(
                    epochs: state.epochs, sequence: state.sequence, horizon: state.horizon,
                    clockMilliseconds: state.clockMilliseconds)
            stores[id]!.statePlace = place
        case .forgotten(let id, let key):
            stores[id]?.hub.forget(key)
            // A power failure may have kept this and lost the removal: then the value has to keep its place.
            if stores[id]?.hub.entries[key] == nil { stores[id]?.places[key] = nil }
        }
    }

    // MARK: - Requests

    /// Takes the changes of a request in and gives the answer, which must wait for a sync.
    package func apply(
        _ request: SyncRequest, to id: StoreID, now: Int64
    ) throws(Fault) -> SyncResponse {
        if stores[id] == nil { try open(id) }
        let plan = stores[id]!.hub.plan(request.changes, now: now)
        if plan.growth > 0, liveByteCount + plan.growth > options.liveByteLimit {
            throw .full(limit: options.liveByteLimit)
        }
        try append(beginning(of: id, with: plan) + plan.accepted.map { .record(id, $0) })
        if !plan.accepted.isEmpty { begun.insert(id) }
        let keys = Set(plan.accepted.map(\.record.key))
        let before = frameByteCount(ofKeys: keys, of: id)
        stores[id]!.hub.commit(plan)
        liveByteCount += plan.growth
        liveFrameByteCount += frameByteCount(ofKeys: keys, of: id) - before
        let answer = stores[id]!.hub.answer(
            request, plan: plan, now: now, page: options.page)
        // A batch at a time, so that the search for them is paid by many removals. Where that fails a later request
        // tries again: what this one brought is in the log.
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

    /// Up to where live readers of a store may be told.
    package func durableSequence(of id: StoreID) -> UInt64 { stores[id]?.durableSequence ?? 0 }

    /// Drops the tombstones of a store that are due.
    package func collectTombstones(of id: StoreID, now: Int64) throws(Fault) {
        guard let expired = stores[id]?.hub.expiredTombstones(now: now), !expired.isEmpty else {
            return
        }
        var hub = stores[id]!.hub
        for entry in expired { hub.forget(entry.record.key) }
        // The horizon goes first: without it a removal would be forgotten unnoticed.
        try append(
            [.store(id, HubEntry.State(hub))]
                + expired.map { .forgotten(id, key: $0.record.key) })
        for entry in expired { stores[id]!.places[entry.record.key] = nil }
        liveFrameByteCount -= frameByteCount(ofKeys: Set(expired.map(\.record.key)), of: id)
        stores[id]!.hub = hub
    }

    /// Begins an epoch of every store and has all readers start over, after what the log held may have been lost.
    package func renewEpochs() throws(Fault) {
        for id in stores.keys.sorted() { try renewEpoch(of: id) }
    }

    private func open(_ id: StoreID) throws(Fault) {
        try append([.store(id, HubEntry.State(epochs: [newEpoch(after: 0)]))])
        begun.insert(id)
    }

    /// The first change after a start begins an epoch.
    private func beginning(of id: StoreID, with plan: Hub.Plan) -> [HubEntry] {
        guard !plan.accepted.isEmpty, !begun.contains(id), let hub = stores[id]?.hub else {
            return []
        }
        let state = stateInNewEpoch(of: hub)
        return [.store(id, state)]
    }

    /// Epochs that are remembered: a replica that has missed more starts downloads everything.
    private static let epochCount = 32

    private func renewEpoch(of id: StoreID) throws(Fault) {
        try append([.store(id, stateInNewEpoch(of: stores[id]!.hub, breakingEarlierOnes: true))])
        begun.insert(id)
    }

    private func stateInNewEpoch(
        of hub: Hub, breakingEarlierOnes isBreaking: Bool = false
    ) -> HubEntry.State {
        var state = HubEntry.State(hub)
        if isBreaking {
            for index in state.epochs.indices { state.epochs[index].isBroken = true }
        }
        state.epochs.append(newEpoch(after: state.sequence))
        state.epochs = state.epochs.suffix(Self.epochCount)
        return state
    }

    private func newEpoch(after sequence: UInt64) -> Hub.Epoch {
        Hub.Epoch(id: ReplicaID(rawValue: random.next()).description, start: sequence)
    }

    /// Appends entries; those about a store itself take effect at once, records with the caller's commit.
    private func append(_ entries: [HubEntry]) throws(Fault) {
        guard !entries.isEmpty else { return }
        let positions: [LogPosition]
        do throws(LogError) {
            positions = try log.append(entries.map(\.payload))
        } catch {
            throw .log(error)
        }
        for (entry, place) in zip(entries, positions) {
            switch entry {
            case .record(let id, let entry):
                stores[id]!.places[entry.record.key] = place
                unsynced.insert(id)
            case .store(let id, _):
                let before = stores[id].map { Self.stateFrameByteCount($0.hub, of: id) } ?? 0
                Self.replay(entry, at: place, into: &stores)
                liveFrameByteCount += Self.stateFrameByteCount(stores[id]!.hub, of: id) - before
                unsynced.insert(id)
            case .forgotten: break
            }
        }
    }

    // MARK: - Disk

    /// Throws `closedByFailure` after a failed sync.
    package func checkOpen() throws(LogError) { try log.checkOpen() }

    /// A sync and what will be durable with it.
    package struct PendingSync: Sendable {
        package let sync: SegmentedLog.PendingSync
        fileprivate let sequences: [StoreID: UInt64]
    }

    /// Nil when everything is on disk.
    package func prepareSync() throws(LogError) -> PendingSync? {
        guard let sync = try log.prepareSync() else {
            settle(unsyncedSequences)
            return nil
        }
        return PendingSync(sync: sync, sequences: unsyncedSequences)
    }

    private var unsyncedSequences: [StoreID: UInt64] {
        unsynced.reduce(into: [:]) { $0[$1] = stores[$1]?.hub.sequence }
    }

    /// Takes note of the outcome; returns the stores with news for live readers.
    ///
    /// Throws `closedByFailure` where this sync has failed or another one at the same time: nothing may be
    /// acknowledged then.
    @discardableResult
    package func finish(
        _ pending: PendingSync, failure: StorageFailure?
    ) throws(LogError) -> Set<StoreID> {
        try log.finish(pending.sync, failure: failure)
        return settle(pending.sequences)
    }

    /// Blocks until everything appended is on disk. When it throws, nothing more is written: `closedByFailure`.
    package func sync() throws(LogError) {
        try log.sync()
        settle(unsyncedSequences)
    }

    @discardableResult
    private func settle(_ sequences: [StoreID: UInt64]) -> Set<StoreID> {
        var news: Set<StoreID> = []
        for (id, sequence) in sequences {
            if sequence > stores[id]!.durableSequence {
                stores[id]!.durableSequence = sequence
                news.insert(id)
            }
            if stores[id]!.hub.sequence == sequence { unsynced.remove(id) }
        }
        return news
    }

    package func close() throws(LogError) { try log.close() }
}
