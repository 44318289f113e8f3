/// One store as the daemon holds it: the winning record of every key and the order of changes. Pure.
///
/// Order contract: `plan` decides without changing anything; its records are appended to the log, then
/// `commit` takes them in, and `answer` may leave only after a disk sync that covers them.
///
/// Invariant: sequence numbers are given once, ascending; `horizon` ≤ `sequence`.
/// Invariant: `byteCount` and `keyCount` equal a recount over the keys that have a value.
package struct Hub: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var record: Record
        package var sequence: UInt64
    }

    /// What a request will change, and what it may not.
    package struct Plan: Sendable, Equatable {
        package var accepted: [Entry] = []
        /// Keys for which a greater stamp is here already.
        package var outdone: [String] = []
        package var rejected: [SyncRejection] = []
        /// By how many bytes the values become more, or less.
        package var growth = 0
    }

    /// A part of the history, named at random when it begins: with the first change after each start of the
    /// daemon. So a number that was given twice, before and after an old copy of the files was put back, is of two
    /// epochs.
    package struct Epoch: Sendable, Equatable {
        package var id: String
        /// The sequence number before its first change.
        package var start: UInt64
        /// Whether a part of it, or of what came before it, may be lost: its readers start over.
        package var isBroken: Bool

        package init(id: String, start: UInt64, isBroken: Bool = false) {
            self.id = id
            self.start = start
            self.isBroken = isBroken
        }
    }

    /// The parts of this history that are still known, oldest first; never empty.
    package private(set) var epochs: [Epoch]
    package private(set) var entries: [String: Entry] = [:]
    package private(set) var sequence: UInt64 = 0
    /// Cursors below it have missed a removal that is no longer known.
    package private(set) var horizon: UInt64 = 0
    package private(set) var byteCount = 0
    package private(set) var keyCount = 0
    /// The greatest milliseconds of a stamp ever taken in.
    package private(set) var clockMilliseconds: Int64 = 0
    private var index = SequenceIndex()
    /// Set while entries are loaded in another order than they were made in.
    private var isIndexStale = false

    package init(epoch: String) { epochs = [Epoch(id: epoch, start: 0)] }

    /// Names the present part of the history.
    package var epoch: String { epochs[epochs.count - 1].id }

    // MARK: - Taking changes in

    package func plan(_ changes: [SyncChange], now: Int64) -> Plan {
        var plan = Plan()
        var planned: [String: Record] = [:]
        var byteCount = byteCount
        var keyCount = keyCount
        for change in changes {
            guard let record = change.record, KeyProfile.standard.allows(record.key) else {
                plan.rejected.append(
                    SyncRejection(
                        key: change.key, reason: SyncRejection.key,
                        limit: Int64(KeyProfile.standard.limit), stamp: change.stamp))
                continue
            }
            let present = planned[record.key] ?? entries[record.key]?.record
            func reject(_ reason: String, limit: Int64) {
                plan.rejected.append(
                    SyncRejection(
                        key: record.key, reason: reason, limit: limit, stamp: change.stamp,
                        present: reason == SyncRejection.clock
                            ? present?.stamp.description : nil))
            }
            // What follows a stamp that was taken in while this clock was ahead cannot be earlier than it.
            let latest = max(now + WireLimits.futureMilliseconds, clockMilliseconds)
            if record.stamp.milliseconds > latest {
                reject(SyncRejection.clock, limit: latest)
                continue
            }
            if let present, !record.supersedes(present) {
                if present != record { plan.outdone.append(record.key) }
                continue
            }
            let old = present?.content ?? .tombstone
            let growth = record.content.byteCount - old.byteCount
            let newKeys = (record.content.isTombstone ? 0 : 1) - (old.isTombstone ? 0 : 1)
            let ceiling = StoreLimits.ceiling
            if record.content.byteCount > ceiling.valueByteCount {
                reject(SyncRejection.quota, limit: Int64(ceiling.valueByteCount))
                continue
            }
            if growth > 0, byteCount + growth > ceiling.totalByteCount {
                reject(SyncRejection.quota, limit: Int64(ceiling.totalByteCount))
                continue
            }
            if newKeys > 0, keyCount + newKeys > ceiling.keyCount {
                reject(SyncRejection.quota, limit: Int64(ceiling.keyCount))
                continue
            }
            byteCount += growth
            plan.growth += growth
            keyCount += newKeys
            planned[record.key] = record
            plan.accepted.append(
                Entry(record: record, sequence: sequence + UInt64(plan.accepted.count) + 1))
        }
        return plan
    }

    package mutating func commit(_ plan: Plan) {
        for entry in plan.accepted { load(entry) }
    }

    /// Takes in an entry with its sequence number, as the log gives it back.
    package mutating func load(_ entry: Entry) {
        clockMilliseconds = max(clockMilliseconds, entry.record.stamp.milliseconds)
        let old = entries.updateValue(entry, forKey: entry.record.key)
        count(old?.record.content, by: -1)
        count(entry.record.content, by: 1)
        if entry.sequence > sequence {
            sequence = entry.sequence
            index.append(entry.record.key, at: sequence, liveCount: entries.count) { place in
                entries[place.key]?.sequence == place.sequence
            }
        } else {
            isIndexStale = true
        }
    }

    /// To be called when everything has been loaded.
    package mutating func finishLoading() {
        guard isIndexStale else { return }
        isIndexStale = false
        index = SequenceIndex(
            entries.values.map {
                SequenceIndex.Place(sequence: $0.sequence, key: $0.record.key)
            })
    }

    package var tombstoneCount: Int { entries.count - keyCount }

    /// Takes in what the log says of the store itself.
    package mutating func load(
        epochs: [Epoch], sequence: UInt64, horizon: UInt64, clockMilliseconds: Int64
    ) {
        if !epochs.isEmpty { self.epochs = epochs }
        self.sequence = max(self.sequence, sequence)
        self.horizon = max(self.horizon, horizon)
        self.clockMilliseconds = max(self.clockMilliseconds, clockMilliseconds)
    }

    private mutating func count(_ content: Record.Content?, by sign: Int) {
        guard case .value(let data) = content else { return }
        byteCount += sign * data.count
        keyCount += sign
    }

    // MARK: - Answering

    /// Whether a reader at this cursor has to start over. One that is in the middle of a download of everything
    /// names the horizon with which it began: below it are only pages it has still to get.
    package func startsOver(epoch: String?, since: UInt64, horizon known: UInt64? = nil) -> Bool {
        guard let index = epochs.firstIndex(where: { $0.id == epoch }), !epochs[index].isBroken
        else { return true }
        return since > lastSequence(ofEpochAt: index) || since < horizon && known != horizon
    }

    /// Whether a live reader has to ask anew: changes are told under the present epoch only.
    package func endsStream(epoch: String, since: UInt64) -> Bool {
        epoch != self.epoch || startsOver(epoch: epoch, since: since)
    }

    /// The epoch that a cursor of this history is of.
    package func epoch(at cursor: UInt64) -> String {
        epochs.last { $0.start < cursor }?.id ?? epochs[0].id
    }

    /// The epochs of this history, and the last sequence number of each.
    package var lineage: [SyncEpoch] {
        epochs.indices.map { index in
            SyncEpoch(epoch: epochs[index].id, end: lastSequence(ofEpochAt: index))
        }
    }

    private func lastSequence(ofEpochAt index: Int) -> UInt64 {
        index + 1 < epochs.count ? epochs[index + 1].start : sequence
    }

    /// The answer to a request whose plan has been committed.
    package func answer(
        _ request: SyncRequest, plan: Plan, now: Int64, page limits: PageLimits = WireLimits.page
    ) -> SyncResponse {
        let startsOver = startsOver(
            epoch: request.epoch, since: request.since, horizon: request.horizon)
        let since = startsOver ? 0 : request.since
        var known: [String: String] = [:]
        for change in request.changes { known[change.key] = change.stamp }
        var page = page(after: since, through: sequence, limits: limits) { entry in
            known[entry.record.key] != entry.record.stamp.description
        }
        // A winner that the sender has not got by its cursor is told in any case; others come with their page.
        let told = Set(page.changes.map(\.key))
        var rejected = plan.rejected
        var byteCount = page.changes.reduce(0) { $0 + ($1.record?.wireByteCount ?? 0) }
        for key in plan.outdone where !told.contains(key) {
            guard let entry = entries[key], entry.sequence <= page.cursor else { continue }
            byteCount += entry.record.wireByteCount
            if byteCount > limits.byteCount, !page.changes.isEmpty {
                rejected.append(
                    SyncRejection(key: key, reason: SyncRejection.again, stamp: known[key]))
            } else {
                page.changes.append(SyncChange(entry.record, seq: entry.sequence))
            }
        }
        return SyncResponse(
            epoch: epoch, cursor: page.cursor, serverTime: now, initial: startsOver,
            more: page.hasMore, changes: page.changes, rejected: rejected, horizon: horizon,
            lineage: startsOver ? lineage : nil)
    }

    package struct Page: Sendable, Equatable {
        package var changes: [SyncChange]
        /// What to read on from.
        package var cursor: UInt64
        package var hasMore: Bool
    }

    /// Changes after a cursor up to a sequence number, in order, as many as one message may carry.
    package func page(
        after since: UInt64, through last: UInt64, limits: PageLimits = WireLimits.page,
        where isWanted: (Entry) -> Bool = { _ in true }
    ) -> Page {
        var page = Page(changes: [], cursor: since, hasMore: false)
        var byteCount = 0
        for place in index.places(after: since) {
            guard place.sequence <= last else { break }
            guard let entry = entries[place.key], entry.sequence == place.sequence else { continue }
            if isWanted(entry) {
                byteCount += entry.record.wireByteCount
                if !page.changes.isEmpty,
                    byteCount > limits.byteCount || page.changes.count >= limits.recordCount
                {
                    page.hasMore = true
                    return page
                }
                page.changes.append(SyncChange(entry.record, seq: entry.sequence))
            }
            page.cursor = place.sequence
        }
        page.cursor = max(page.cursor, last)
        return page
    }

    // MARK: - Forgetting removals

    /// The tombstones that are due to go: older than 90 days, or the oldest beyond 4,096.
    package func expiredTombstones(now: Int64) -> [Entry] {
        let tombstones = entries.values.filter { $0.record.content.isTombstone }
            .sorted { $0.sequence < $1.sequence }
        let excess = max(0, tombstones.count - WireLimits.tombstoneCount)
        let oldest = now - WireLimits.tombstoneMilliseconds
        return tombstones.enumerated()
            .filter { $0.offset < excess || $0.element.record.stamp.milliseconds < oldest }
            .map(\.element)
    }

    /// Drops a tombstone; cursors that may not have seen it start over from now on.
    package mutating func forget(_ key: String) {
        guard let entry = entries[key], entry.record.content.isTombstone else { return }
        entries[key] = nil
        horizon = max(horizon, entry.sequence)
    }
}
