extension Hub {
    /// Whether a reader at this cursor has to start over. A reader in the middle of a full download names the
    /// horizon with which it began: below that are only pages that it has still to get.
    package func startsOver(since: SyncCursor?, horizon known: UInt64? = nil) -> Bool {
        guard let since, let index = state.epochs.firstIndex(where: { $0.id == since.epoch }),
            !state.epochs[index].isBroken
        else { return true }
        return since.sequence > lastSequence(ofEpochAt: index) || since.sequence < horizon && known != horizon
    }

    /// Whether a live reader has to sync again: a stream carries changes of the present epoch only.
    package func endsStream(at cursor: SyncCursor) -> Bool {
        cursor.epoch != end.epoch || startsOver(since: cursor)
    }

    /// The cursor at a sequence number, in the epoch that the number belongs to.
    package func epochCursor(at sequence: UInt64) -> SyncCursor {
        let epoch = state.epochs.last { $0.start < sequence } ?? state.epochs.first
        return SyncCursor(epoch: epoch?.id ?? end.epoch, sequence: sequence)
    }

    /// The known epochs, oldest first, each with its last sequence number.
    package var lineage: [SyncCursor] {
        state.epochs.indices.map { index in
            SyncCursor(epoch: state.epochs[index].id, sequence: lastSequence(ofEpochAt: index))
        }
    }

    private func lastSequence(ofEpochAt index: Int) -> UInt64 {
        index + 1 < state.epochs.count ? state.epochs[index + 1].start : sequence
    }

    /// The answer to a request whose plan has been committed.
    package func answer(
        _ request: SyncRequest, plan: Plan, now: Int64, page limits: PageLimits = WireLimits.page
    ) -> SyncResponse {
        let startsOver = startsOver(since: request.since, horizon: request.horizon)
        var sent: [StoreKey: StoreRecord] = [:]
        for record in request.changes { sent[record.key] = record }
        var page = page(
            after: startsOver ? 0 : request.since?.sequence ?? 0, through: sequence, limits: limits
        ) { entry in
            sent[entry.record.key]?.stamp != entry.record.stamp
        }
        // Winners that the sender does not hold by its cursor come in any case; others come with their page.
        let included = Set(page.changes.map(\.record.key))
        var rejections = plan.rejections
        var byteCount = page.changes.reduce(0) { $0 + $1.record.wireByteCount }
        for key in plan.superseded where !included.contains(key) {
            guard let entry = entries[key], entry.sequence <= page.cursor, let record = sent[key] else { continue }
            byteCount += entry.record.wireByteCount
            if byteCount > limits.byteCount, !page.changes.isEmpty {
                rejections.append(SyncRejection(record, .again))
            } else {
                page.changes.append(entry)
            }
        }
        return SyncResponse(
            cursor: SyncCursor(epoch: end.epoch, sequence: page.cursor), serverTime: now,
            isInitial: startsOver, hasMore: page.hasMore, changes: page.changes,
            rejections: rejections, horizon: horizon, lineage: startsOver ? lineage : [])
    }

    /// The included keys that have a value, sorted.
    ///
    /// - Parameter last: a sequence number beyond which nothing is included.
    package func values(
        through last: UInt64 = .max, where isIncluded: (StoreKey) -> Bool
    ) -> [SequencedRecord] {
        entries.values
            .filter {
                !$0.record.content.isTombstone && $0.sequence <= last && isIncluded($0.record.key)
            }
            .sorted { $0.record.key < $1.record.key }
    }

    package struct Page: Sendable, Equatable {
        package var changes: [SequencedRecord]
        /// Where to continue.
        package var cursor: UInt64
        package var hasMore: Bool
    }

    /// Changes after a sequence number up to another, in order, as many as one message may carry.
    package func page(
        after start: UInt64, through last: UInt64, limits: PageLimits = WireLimits.page,
        where isWanted: (SequencedRecord) -> Bool = { _ in true }
    ) -> Page {
        var page = Page(changes: [], cursor: start, hasMore: false)
        var byteCount = 0
        for position in positions(after: start) {
            guard position.sequence <= last else { break }
            guard let entry = entries[position.key], entry.sequence == position.sequence else {
                continue
            }
            if isWanted(entry) {
                byteCount += entry.record.wireByteCount
                if !page.changes.isEmpty, byteCount > limits.byteCount || page.changes.count >= limits.recordCount {
                    page.hasMore = true
                    return page
                }
                page.changes.append(entry)
            }
            page.cursor = position.sequence
        }
        page.cursor = max(page.cursor, last)
        return page
    }
}
