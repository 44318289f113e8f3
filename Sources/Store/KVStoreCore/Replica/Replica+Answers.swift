extension Replica {
    /// The answer to the request under way.
    mutating func answered(_ exchange: SyncSession.Exchange, with response: SyncResponse, at now: Instant) {
        let use: AnswerUse
        do throws(SyncTransportError) {
            use = try self.use(of: response, to: exchange)
        } catch {
            return fail(exchange, error, at: now)
        }
        let (formerCursor, formerPendingCount) = (state.cursor, table.pendingKeys.count)
        session.phase = exchange.backOffUntil.map { .backingOff(until: $0) } ?? .idle
        measureOffset(from: response, sent: exchange.sent, now: now)

        var changed: [StoreKey] = []
        let isFirst = session.download?.isFirst == true
        if use == .page, response.hasMore, let cursor = partialCursor(with: response) {
            // Should the daemon lose what the page brings, this shows it.
            updateState { $0.partialDownload = cursor }
        }
        // A record ahead of the cursor would later pass for newer than an earlier change of its key; the next round
        // brings it again.
        if use != .rejectionsOnly { apply(response.changes, changed: &changed) }
        session.failures.backoff.reset()
        session.failures.last = nil
        // Changes count as accepted only together with a cursor that covers them, which shows should the daemon
        // lose them.
        resolve(
            exchange.request, rejections: response.rejections,
            isCovered: use == .increment && !response.hasMore, at: now)
        if !exchange.request.changes.isEmpty { session.refusal?.accept() }
        if table.pendingKeys.isEmpty { session.refusal = nil }
        switch use {
        case .page:
            if !response.hasMore { finishDownload(changed: &changed, at: now) }
        case .increment:
            moveCursor(to: response.cursor, at: now)
            session.transfer = .incremental(isBehind: response.hasMore)
        case .rejectionsOnly: session.isPullDue = true
        }
        if response.hasMore { session.isPullDue = true }
        notify(isFirst ? .initialSyncChange : .serverChange, changed)
        if table.pendingKeys.count < formerPendingCount || hasAdvanced(since: formerCursor) {
            session.failures.fruitlessCount = 0
        } else if use == .rejectionsOnly && !exchange.isOvertaken
            || response.rejections.contains(where: \.reason.asksAgain)
        {
            countFruitless(at: now)
        }
        startRound(at: now)
        if session.exchange == nil { completeWaiters() }
    }

    private enum AnswerUse {
        /// A page of a full download.
        case page
        /// All changes since the cursor.
        case increment
        /// Records and cursor belong to another course of events.
        case rejectionsOnly
    }

    private mutating func use(
        of response: SyncResponse, to exchange: SyncSession.Exchange
    ) throws(SyncTransportError) -> AnswerUse {
        let request = exchange.request
        let start = response.isInitial ? 0 : request.since?.sequence ?? 0
        if response.hasMore, response.cursor.sequence <= start {
            throw .malformed("more pages announced without progress")
        }
        guard response.changes.allSatisfy({ KeyProfile.standard.allows($0.record.key) }) else {
            throw .malformed("a change with an invalid key")
        }
        if exchange.isOvertaken { return .rejectionsOnly }
        if var download = session.download {
            try download.advance(with: response)
            session.transfer = .download(download)
            return .page
        }
        if response.isInitial {
            session.transfer = .downloadDue
            return .rejectionsOnly
        }
        // Another process may have moved on: an answer continues from where its request stood.
        return request.since?.epoch == state.cursor?.epoch ? .increment : .rejectionsOnly
    }

    /// How far an unfinished download has come with a page. Nil if that is recorded, or if an earlier download reached
    /// what the daemon has lost since: that stays on record.
    private func partialCursor(with page: SyncResponse) -> SyncCursor? {
        guard let recorded = state.partialDownload else { return page.cursor }
        guard recorded.epoch != page.cursor.epoch || recorded.sequence < page.cursor.sequence,
            session.download?.contains(recorded) == true
        else { return nil }
        return SyncCursor(epoch: page.cursor.epoch, sequence: max(recorded.sequence, page.cursor.sequence))
    }

    private mutating func apply(_ changes: [SequencedRecord], changed: inout [StoreKey]) {
        if var download = session.download {
            for change in changes { download.seen[change.record.key] = change.record }
            session.transfer = .download(download)
        }
        for change in changes {
            if apply(change, changed: &changed) {
                session.counts.sent += 1
            } else {
                session.counts.received += 1
            }
        }
    }

    /// Merges a record of the daemon; returns whether it acknowledges one of this replica.
    @discardableResult
    mutating func apply(_ change: SequencedRecord, changed: inout [StoreKey]) -> Bool {
        let record = change.record
        clock.confirm(record.stamp)
        if let entry = table[record.key] {
            if entry.status == .provisional {
                // A removed key does not exist on the daemon, so the default stays.
                if record.content.isTombstone { return false }
            } else if entry.record == record {
                // During a download it stays pending, and is sent and acknowledged afterwards.
                guard entry.status == .pending, session.download == nil else { return false }
                acknowledge(entry.record)
                return true
            } else if !record.supersedes(entry.record), !isOutdated(entry, by: change) {
                return false
            }
        }
        if store(Table.Entry(record: record, status: .acknowledged)) { changed.append(record.key) }
        session.blocked[record.key] = nil
        return false
    }

    private mutating func acknowledge(_ record: StoreRecord) {
        table.acknowledge(record.key)
        ready.entries.append(.acknowledged(key: record.key, stamp: record.stamp))
    }

    /// Whether the daemon's record counts although the entry has the greater stamp.
    ///
    /// The daemon keeps the greatest stamp of a key until it forgets a tombstone. A key may then begin again with
    /// an older stamp, from a device that was away for long. An acknowledged entry stands only for what the
    /// daemon held, so it gives way; a pending one does not.
    private func isOutdated(_ entry: Table.Entry, by change: SequencedRecord) -> Bool {
        guard entry.status == .acknowledged else { return false }
        guard let download = session.download else {
            return entry.record.content.isTombstone && change.sequence > state.cursor?.sequence ?? 0
        }
        return !download.showsLoss(since: state.cursor) && download.candidates[entry.record.key] == entry.record.stamp
    }

    /// Acknowledges what the daemon accepted, and handles what it rejected.
    private mutating func resolve(
        _ request: SyncRequest, rejections: [SyncRejection], isCovered: Bool, at now: Instant
    ) {
        var rejected: [StoreKey: SyncRejection.Reason] = [:]
        for rejection in rejections { rejected[rejection.key] = rejection.reason }
        var reissued: [StoreKey] = []
        var present: [StoreStamp] = []
        var overQuota: [StoreKey] = []
        var latest: Int64?
        for change in request.changes {
            guard let entry = table[change.key], entry.status == .pending,
                entry.record.stamp == change.stamp
            else { continue }
            switch rejected[change.key] {
            case nil:
                clock.confirm(change.stamp)
                guard isCovered else { continue }
                acknowledge(entry.record)
                session.counts.sent += 1
            case .clock(let limit, let stamp):
                reissued.append(change.key)
                latest = max(latest ?? limit, limit)
                // It may be an own write whose answer was lost; what replaces it must be later.
                if let stamp { present.append(stamp) }
            case .again: session.isPullDue = true
            case .quota:
                session.blocked[change.key] = change.stamp
                overQuota.append(change.key)
            case .key: session.blocked[change.key] = change.stamp
            }
        }
        notify(.quotaViolationChange, overQuota)
        reissue(reissued, after: present, limit: latest, at: now)
    }

    /// Issues new stamps, in the old order, to keys whose stamps were too far ahead of the daemon's clock. They come
    /// under a new replica id, since the readings that follow may have been issued before.
    ///
    /// - Parameter present: what the daemon holds under the keys.
    private mutating func reissue(_ keys: [StoreKey], after present: [StoreStamp], limit: Int64?, at now: Instant) {
        guard !keys.isEmpty else { return }
        clock.rewind(to: now.wall, limit: limit, keeping: table.entries.values.lazy.map(\.record.stamp))
        for stamp in present { clock.confirm(stamp) }
        let newID = ReplicaID(rawValue: random.next())
        var entries = keys.compactMap { table[$0] }.sorted { $0.record.stamp < $1.record.stamp }
        for index in entries.indices {
            entries[index].record.stamp = clock.next(now: now.wall, replica: newID)
            clock.markReissued(entries[index].record.stamp)
        }
        // The state comes first: its reading covers the stamps that follow it.
        updateState { $0.replica = newID }
        for entry in entries { store(entry) }
    }

    private func hasAdvanced(since former: SyncCursor?) -> Bool {
        guard let cursor = state.cursor, let former else { return state.cursor != former }
        return cursor.epoch != former.epoch || cursor.sequence > former.sequence
    }

    /// Counts what made the replica ask again and brought it no further: an answer that rejects what has been sent, or
    /// starts over, or a reset stream. A daemon that goes on like that is asked again later.
    mutating func countFruitless(at now: Instant) {
        session.failures.fruitlessCount += 1
        guard session.failures.fruitlessCount > 3 else { return }
        session.backOff(until: now.monotonic + Backoff.greatestMilliseconds)
        ready.wakeAt = session.wakeTime
    }

    /// Every page has come.
    private mutating func finishDownload(changed: inout [StoreKey], at now: Instant) {
        guard let download = session.download, let progress = download.progress else { return }
        session.transfer = .incremental(isBehind: false)
        let hasLost = download.showsLoss(since: state.cursor)
        if hasLost {
            clock.confirmed = download.seen.values.map { HybridClock.Reading($0.stamp) }.max() ?? .init()
        }
        for entry in table.entries.values.sorted(by: { $0.record.stamp < $1.record.stamp }) {
            guard let resolved = resolved(entry, by: download, hasLost: hasLost, at: now) else {
                continue
            }
            if store(resolved) { changed.append(entry.record.key) }
        }
        updateState { state in
            state.cursor = progress.cursor
            state.initialSyncCompleted = true
            state.partialDownload = nil
            state.lastSyncMilliseconds = now.wall
        }
    }

    /// What becomes of an entry when a download is complete; nil if it stays as it is.
    private mutating func resolved(
        _ entry: Table.Entry, by download: FullDownload, hasLost: Bool, at now: Instant
    ) -> Table.Entry? {
        var entry = entry
        switch entry.status {
        case .pending: return nil
        case .provisional:
            entry.record.stamp = clock.next(now: now.wall, replica: id)
            entry.status = .pending
            return entry
        case .acknowledged:
            let key = entry.record.key
            // What was acknowledged meanwhile may have been so in the lost history.
            guard hasLost || download.candidates[key] == entry.record.stamp else { return nil }
            let seen = download.seen[key]
            if let seen, !entry.record.supersedes(seen) { return nil }
            if seen == nil, !hasLost {
                // The daemon has forgotten the tombstone that removed the key. The stamp stays, so that the
                // tombstone here is never newer than what it stands for.
                entry.record.content = .tombstone
            } else {
                entry.status = .pending
            }
            return entry
        }
    }

    private mutating func moveCursor(to cursor: SyncCursor, at now: Instant) {
        let isOld = state.lastSyncMilliseconds.map { (now.wall &- $0).magnitude >= 60_000 } ?? true
        let isAhead = cursor.sequence >= state.cursor?.sequence ?? 0 && cursor != state.cursor
        guard isAhead || isOld else { return }
        updateState { state in
            if isAhead { state.cursor = cursor }
            state.lastSyncMilliseconds = now.wall
        }
    }

    /// Compares the daemon's clock at the middle of the round trip with the device's. A difference of half a
    /// second can come from a slow round trip and is ignored.
    private mutating func measureOffset(from response: SyncResponse, sent: Instant, now: Instant) {
        let elapsed = max(0, now.monotonic - sent.monotonic)
        let greatest = StoreStamp.greatestMilliseconds
        let serverTime = min(max(response.serverTime, -greatest), greatest)
        let offset = serverTime &- (now.wall &- elapsed / 2)
        let slack = UInt64(500 + elapsed / 2)
        if offset.magnitude <= slack {
            clock.offsetMilliseconds = 0
        } else if (offset &- clock.offsetMilliseconds).magnitude > slack {
            clock.offsetMilliseconds = offset
        }
    }

    mutating func completeWaiters() {
        ready.completions += session.waiters.filter(\.isServed).map {
            Ready.Completion(waiter: $0.id, outcome: .success(report(since: $0.start)))
        }
        session.waiters.removeAll(where: \.isServed)
    }

    func report(since start: SyncSession.Counts) -> SyncReport {
        SyncReport(
            sentKeyCount: session.counts.sent - start.sent, receivedKeyCount: session.counts.received - start.received,
            pendingKeyCount: table.pendingKeys.count, refusal: refusal, refusedKeys: refusedKeys.map(\.text),
            isReadOnly: session.refusal?.cause?.isReadOnly ?? false)
    }
}
