/// One store as the daemon holds it: the winning record of every key and the order of changes. Pure.
///
/// Order contract: `plan` decides without changing anything; its records are appended to the log, then
/// `commit` applies them, and `answer` may leave only after a sync that covers them.
///
/// Invariant: sequence numbers are assigned once, ascending; `horizon` ≤ `sequence`.
/// Invariant: `byteCount` and `keyCount` equal a recount over the keys that have a value.
package struct Hub: Sendable, Equatable {
    /// What a request will change, and what is rejected.
    package struct Plan: Sendable, Equatable {
        package var accepted: [SequencedRecord] = []
        /// Keys for which the hub holds a greater stamp already.
        package var superseded: [StoreKey] = []
        package var rejections: [SyncRejection] = []
        /// The change of the total size of all values, in bytes.
        package var growth = 0
        /// The change of the number of keys with a value.
        package fileprivate(set) var keyGrowth = 0
        /// The last accepted record of each key.
        fileprivate var planned: [StoreKey: StoreRecord] = [:]

        package init() {}

        /// The last accepted record of a key; nil if none of the changes is.
        package func record(of key: StoreKey) -> StoreRecord? { planned[key] }
    }

    /// A part of the history. It begins with the first change after a start of the daemon.
    package struct Epoch: Sendable, Equatable {
        package var id: EpochID
        /// The sequence number before its first change.
        package var start: UInt64
        /// Whether a part of it, or of what came before it, may be lost: its readers start over.
        package var isBroken: Bool

        package init(id: EpochID, start: UInt64, isBroken: Bool = false) {
            self.id = id
            self.start = start
            self.isBroken = isBroken
        }
    }

    /// What a hub remembers besides its records.
    package struct State: Sendable, Equatable {
        /// The epochs that are still known, oldest first.
        package var epochs: [Epoch]
        /// The last sequence number assigned.
        package var sequence: UInt64 = 0
        /// Cursors below it have missed a tombstone that is forgotten.
        package var horizon: UInt64 = 0
        /// The greatest milliseconds of any stamp accepted since the store was created.
        package var clockMilliseconds: Int64 = 0

        package init(epochs: [Epoch], sequence: UInt64 = 0, horizon: UInt64 = 0, clockMilliseconds: Int64 = 0) {
            self.epochs = epochs
            self.sequence = sequence
            self.horizon = horizon
            self.clockMilliseconds = clockMilliseconds
        }

        /// A replica that has missed more starts downloads everything.
        private static let epochCount = 32

        /// The state when a new epoch begins; with `isBreaking` all readers of earlier ones start over.
        package func beginning(_ id: EpochID, breakingEarlierEpochs isBreaking: Bool = false) -> State {
            var state = self
            if isBreaking {
                for index in epochs.indices { state.epochs[index].isBroken = true }
            }
            state.epochs.append(Epoch(id: id, start: sequence))
            state.epochs = state.epochs.suffix(Self.epochCount)
            return state
        }

        /// The state after the removal of all records. It takes a sequence number, which is also the horizon, so that
        /// every reader starts over and drops what was removed. The clock begins again too: no record needs later
        /// stamps.
        package func removing(beginning id: EpochID) -> State {
            var state = self
            state.sequence += 1
            state.horizon = state.sequence
            state.clockMilliseconds = 0
            return state.beginning(id)
        }
    }

    package private(set) var state: State
    package private(set) var entries: [StoreKey: SequencedRecord] = [:]
    package private(set) var byteCount = 0
    package private(set) var keyCount = 0
    private var index = SequenceIndex()
    /// Set while records are loaded in another order than they were accepted in.
    private var isIndexStale = false

    package init(epoch: EpochID? = nil) {
        state = State(epochs: epoch.map { [Epoch(id: $0, start: 0)] } ?? [])
    }

    /// A store without records.
    package init(_ state: State) { self.state = state }

    package var sequence: UInt64 { state.sequence }
    package var horizon: UInt64 { state.horizon }

    /// Where the history ends. A hub whose log held no state has no epoch; its cursors match nothing.
    package var end: SyncCursor { cursor(at: sequence) }

    private func cursor(at sequence: UInt64) -> SyncCursor {
        SyncCursor(epoch: state.epochs.last?.id ?? EpochID(rawValue: 0), sequence: sequence)
    }

    package var tombstoneCount: Int { entries.count - keyCount }

    // MARK: - Accepting changes

    package func plan(_ changes: [StoreRecord], now: Int64) -> Plan {
        var plan = Plan()
        extend(&plan, with: changes, now: now)
        return plan
    }

    /// Adds changes of another request to a plan that has not been committed.
    package func extend(_ plan: inout Plan, with changes: [StoreRecord], now: Int64) {
        for record in changes {
            guard KeyProfile.standard.allows(record.key) else {
                plan.rejections.append(SyncRejection(record, .key(limit: KeyProfile.standard.limit)))
                continue
            }
            let present = plan.planned[record.key] ?? entries[record.key]?.record
            // A stamp accepted while this clock was ahead may be followed by later ones.
            let latest = max(now + WireLimits.futureMilliseconds, state.clockMilliseconds)
            if record.stamp.milliseconds > latest {
                plan.rejections.append(SyncRejection(record, .clock(limit: latest, present: present?.stamp)))
                continue
            }
            if let present, !record.supersedes(present) {
                if present != record { plan.superseded.append(record.key) }
                continue
            }
            let old = present?.content ?? .tombstone
            let growth = record.content.byteCount - old.byteCount
            let newKeys = (record.content.isTombstone ? 0 : 1) - (old.isTombstone ? 0 : 1)
            if let limit = Self.exceededLimit(
                valueByteCount: record.content.byteCount, byteCount: growth > 0 ? byteCount + plan.growth + growth : 0,
                keyCount: newKeys > 0 ? keyCount + plan.keyGrowth + newKeys : 0)
            {
                plan.rejections.append(SyncRejection(record, .quota(limit: limit)))
                continue
            }
            plan.growth += growth
            plan.keyGrowth += newKeys
            plan.planned[record.key] = record
            plan.accepted.append(SequencedRecord(record: record, sequence: sequence + UInt64(plan.accepted.count) + 1))
        }
    }

    private static func exceededLimit(valueByteCount: Int, byteCount: Int, keyCount: Int) -> Int? {
        let ceiling = StoreLimits.ceiling
        if valueByteCount > ceiling.valueByteCount { return ceiling.valueByteCount }
        if byteCount > ceiling.totalByteCount { return ceiling.totalByteCount }
        return keyCount > ceiling.keyCount ? ceiling.keyCount : nil
    }

    /// - Parameter visit: is called with each accepted entry and the one that it replaces.
    package mutating func commit(
        _ plan: Plan,
        visit: (_ former: SequencedRecord?, _ entry: SequencedRecord) -> Void = { _, _ in }
    ) {
        for entry in plan.accepted { visit(load(entry), entry) }
    }

    /// Applies a record with its sequence number, as the log returns it; returns the one that it replaces.
    @discardableResult
    package mutating func load(_ entry: SequencedRecord) -> SequencedRecord? {
        state.clockMilliseconds = max(state.clockMilliseconds, entry.record.stamp.milliseconds)
        let old = entries.updateValue(entry, forKey: entry.record.key)
        count(old?.record.content, by: -1)
        count(entry.record.content, by: 1)
        if entry.sequence > sequence {
            state.sequence = entry.sequence
            index.append(entry.record.key, at: sequence, liveCount: entries.count) { position in
                entries[position.key]?.sequence == position.sequence
            }
        } else {
            isIndexStale = true
        }
        return old
    }

    /// Applies the state that the log holds. Numbers never go back.
    package mutating func load(_ other: State) {
        if !other.epochs.isEmpty { state.epochs = other.epochs }
        state.sequence = max(state.sequence, other.sequence)
        state.horizon = max(state.horizon, other.horizon)
        state.clockMilliseconds = max(state.clockMilliseconds, other.clockMilliseconds)
    }

    /// Call it when everything has been loaded.
    package mutating func finishLoading() {
        guard isIndexStale else { return }
        isIndexStale = false
        index = SequenceIndex(entries.values.map { SequenceIndex.Position(sequence: $0.sequence, key: $0.record.key) })
    }

    func positions(after sequence: UInt64) -> ArraySlice<SequenceIndex.Position> {
        index.positions(after: sequence)
    }

    private mutating func count(_ content: StoreRecord.Content?, by sign: Int) {
        guard case .value(let data) = content else { return }
        byteCount += sign * data.count
        keyCount += sign
    }

    // MARK: - Forgetting tombstones

    /// The tombstones that are due to be forgotten: older than 90 days, or the oldest beyond 4,096.
    package func expiredTombstones(now: Int64) -> [SequencedRecord] {
        let tombstones = entries.values.filter { $0.record.content.isTombstone }.sorted { $0.sequence < $1.sequence }
        let excess = max(0, tombstones.count - WireLimits.tombstoneCount)
        let oldest = now - WireLimits.tombstoneMilliseconds
        return tombstones.enumerated().filter { $0.offset < excess || $0.element.record.stamp.milliseconds < oldest }
            .map(\.element)
    }

    /// Forgets a tombstone; cursors that may not have seen it start over from then on.
    package mutating func forget(_ key: StoreKey) {
        guard let entry = entries[key], entry.record.content.isTombstone else { return }
        entries[key] = nil
        state.horizon = max(state.horizon, entry.sequence)
    }
}
