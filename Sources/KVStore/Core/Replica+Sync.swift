extension Replica {
    /// The answer to the request under way.
    mutating func answered(_ response: SyncResponse, at now: Moment) -> [Effect] {
        guard let inFlight = session.inFlight else { return [] }
        session.inFlight = nil
        let use: AnswerUse
        // Records ahead of the cursor would be taken for the daemon's latest when an earlier change of their keys
        // comes late; the next round brings them.
        var changes: [(record: Record, seq: UInt64)] = []
        do throws(SyncTransportError) {
            use = try self.use(of: response, to: inFlight)
            if use != .refusals { changes = try Self.records(of: response) }
        } catch {
            return fail(inFlight, error, at: now)
        }
        learnOffset(from: response, sent: inFlight.sent, now: now)

        var effects: [Effect] = []
        var changed: [String] = []
        if use == .page, response.more, let download = download(with: response) {
            // Should the daemon lose what the page brings, this shows it.
            effects.append(updateState { $0.download = download })
        }
        let reason: StoreChangeReason =
            session.pass?.isFirst == true ? .initialSyncChange : .serverChange
        for (record, seq) in changes {
            // Not what comes through a stream meanwhile: that may be of a history that is lost.
            session.pass?.seen[record.key] = record
            let received = receive(record, seq: seq, changed: &changed)
            if case .append(.acknowledged)? = received {
                session.counts.sent += 1
            } else {
                session.counts.received += 1
            }
            if let received { effects.append(received) }
        }
        session.backoff.reset()
        session.lastFailure = nil
        // Only together with a cursor that covers it: should the daemon lose what it took in, the cursor shows it.
        effects += settle(
            inFlight.request, rejected: response.rejected,
            isCovered: use == .increment && !response.more, at: now)
        switch use {
        case .page:
            session.pass!.cursor = response.cursor
            if !response.more { effects += finishPass(changed: &changed, at: now) }
        case .increment:
            effects += moveCursor(to: response.cursor, epoch: response.epoch, at: now)
        case .refusals: session.needsRound = true
        }
        if response.more { session.needsRound = true }
        session.isBehind = response.more
        effects += notifications(reason, changed)
        let next = startRound(at: now)
        if session.inFlight == nil { effects += finishWaiters() }
        return effects + next
    }

    /// How far an unfinished download has come with a page; nil where that is noted, or where an earlier one had come
    /// to what the daemon has lost since: that stays to be seen.
    private func download(with page: SyncResponse) -> SyncEpoch? {
        let place = SyncEpoch(epoch: page.epoch, end: page.cursor)
        guard let noted = state.download else { return place }
        guard noted.epoch != page.epoch || noted.end < page.cursor,
            session.pass?.knows(noted) == true
        else { return nil }
        return SyncEpoch(epoch: page.epoch, end: max(noted.end, page.cursor))
    }

    private static func records(
        of response: SyncResponse
    ) throws(SyncTransportError) -> [(record: Record, seq: UInt64)] {
        var records: [(record: Record, seq: UInt64)] = []
        records.reserveCapacity(response.changes.count)
        for change in response.changes {
            guard let record = change.record, KeyProfile.standard.allows(record.key) else {
                throw .malformed("a change without key or stamp")
            }
            records.append((record, change.seq ?? 0))
        }
        return records
    }

    /// What an answer is good for.
    private enum AnswerUse {
        /// A page of a full download.
        case page
        /// All changes since the cursor.
        case increment
        /// It says what cannot be taken; its records and its cursor belong to another course of events.
        case refusals
    }

    private mutating func use(
        of response: SyncResponse, to inFlight: SyncSession.InFlight
    ) throws(SyncTransportError) -> AnswerUse {
        let request = inFlight.request
        guard response.epoch.utf8.count <= WireLimits.epochByteCount else {
            throw .malformed("an epoch of more than \(WireLimits.epochByteCount) bytes")
        }
        if response.more, response.changes.isEmpty, response.cursor <= request.since {
            throw .malformed("more to come, and no step towards it")
        }
        if inFlight.isOvertaken { return .refusals }
        guard let pass = session.pass else {
            if response.initial {
                session.needsPass = true
                return .refusals
            }
            // Another process may have moved on meanwhile: an answer goes on from where its request stood.
            return request.epoch == state.epoch ? .increment : .refusals
        }
        guard response.initial == (pass.epoch == nil) else {
            throw .malformed("the history changed between two pages")
        }
        session.pass!.epoch = response.epoch
        if response.initial {
            session.pass!.lineage =
                response.lineage ?? [SyncEpoch(epoch: response.epoch, end: .max)]
        }
        session.pass!.horizon = response.horizon
        return .page
    }

    private mutating func fail(
        _ inFlight: SyncSession.InFlight, _ error: SyncTransportError, at now: Moment
    ) -> [Effect] {
        session.inFlight = inFlight
        return handle(.failed(error), at: now)
    }

    /// Takes in a record from the daemon; returns what is to be appended, if it says something new.
    mutating func receive(
        _ record: Record, seq: UInt64, changed: inout [String]
    ) -> Effect? {
        clock.confirm(record.stamp)
        if let entry = table[record.key] {
            if entry.mark == .provisional {
                // What the daemon has wins over a default written before the first download; a
                // key that was removed there does not exist there.
                if record.content.isTombstone { return nil }
            } else if entry.record == record {
                // During a pass it stays pending, and is sent and acknowledged after it.
                guard entry.mark == .pending, session.pass == nil else { return nil }
                table.mark(record.key, .settled)
                return .append(.acknowledged(key: record.key, stamp: record.stamp))
            } else if !record.supersedes(entry.record), !isOutOfDate(entry, seq: seq) {
                return nil
            }
        }
        let entry = Table.Entry(record: record, mark: .settled)
        if table.put(entry) { changed.append(record.key) }
        session.blocked[record.key] = nil
        return .append(Self.entry(entry))
    }

    /// Whether the daemon's record counts although ours has the greater stamp.
    ///
    /// The daemon keeps the greatest stamp of a key, until it forgets the mark of a removal. A key may then begin
    /// anew with an older stamp, from a device that was away for long. What is settled here stands only for
    /// what the daemon had, so it gives way; what is still to be sent does not.
    private func isOutOfDate(_ entry: Table.Entry, seq: UInt64) -> Bool {
        guard entry.mark == .settled else { return false }
        guard let pass = session.pass else {
            return entry.record.content.isTombstone && seq > state.cursor
        }
        return !hasLost(pass) && pass.candidates[entry.record.key] == entry.record.stamp
    }

    /// Whether the daemon has lost what it does not have, and not forgotten a removal of it.
    ///
    /// A replica that knew everything up to the horizon has seen all removals that are forgotten; one whose place
    /// is not in the daemon's history cannot tell, and keeps what it has. One whose damaged log does not say how
    /// far it was knows only that nothing is forgotten where the horizon is 0.
    private func hasLost(_ pass: SyncSession.FullPass) -> Bool {
        if let abandoned = pass.abandoned, !pass.knows(abandoned) { return true }
        guard let epoch = state.epoch else { return pass.horizon == 0 }
        return state.cursor >= pass.horizon ?? .max
            || !pass.knows(SyncEpoch(epoch: epoch, end: state.cursor))
    }

    /// Marks what the daemon has taken, and deals with what it has not.
    private mutating func settle(
        _ request: SyncRequest, rejected: [SyncRejection], isCovered: Bool, at now: Moment
    ) -> [Effect] {
        var effects: [Effect] = []
        var refusals: [String: SyncRejection] = [:]
        for rejection in rejected { refusals[rejection.key] = rejection }
        var restamped: [String] = []
        var present: [Stamp] = []
        for change in request.changes {
            guard let entry = table[change.key], entry.mark == .pending,
                entry.record.stamp.description == change.stamp
            else { continue }
            switch refusals[change.key]?.reason {
            case nil:
                clock.confirm(entry.record.stamp)
                guard isCovered else { continue }
                table.mark(change.key, .settled)
                session.counts.sent += 1
                effects.append(
                    .append(.acknowledged(key: change.key, stamp: entry.record.stamp)))
            case SyncRejection.clock:
                restamped.append(change.key)
                // It may be an own write whose answer got lost; what replaced it comes later.
                if let text = refusals[change.key]?.present, let stamp = Stamp(text) {
                    present.append(stamp)
                }
            case SyncRejection.again: session.needsRound = true
            case SyncRejection.quota:
                session.blocked[change.key] = entry.record.stamp
                effects += notifications(.quotaViolationChange, [change.key])
            default: session.blocked[change.key] = entry.record.stamp
            }
        }
        let limit = restamped.compactMap { refusals[$0]?.limit }.max()
        return effects + restamp(restamped, after: present, limit: limit, at: now)
    }

    /// Gives keys whose stamps lie in the daemon's future new ones, in their old order, under a new replica id: the
    /// readings that follow may have been given before. `present` is what the daemon has under them.
    private mutating func restamp(
        _ keys: [String], after present: [Stamp], limit: Int64?, at now: Moment
    ) -> [Effect] {
        guard !keys.isEmpty else {
            session.clockRefusals = 0
            return []
        }
        session.clockRefusals += 1
        if session.clockRefusals > 3 {
            // The daemon refuses stamps made with the time that it gave: try again later.
            session.retryAt = now.monotonic + Backoff.greatestMilliseconds
        }
        clock.rewind(
            to: now.wall, limit: limit, keeping: table.entries.values.lazy.map(\.record.stamp))
        for stamp in present { clock.confirm(stamp) }
        let newID = ReplicaID(rawValue: random.next())
        var entries: [Effect] = []
        for var entry in keys.compactMap({ table[$0] }).sorted(by: {
            $0.record.stamp < $1.record.stamp
        }) {
            entry.record.stamp = clock.next(now: now.wall, replica: newID)
            clock.regive(entry.record.stamp)
            table.put(entry)
            entries.append(.append(Self.entry(entry)))
        }
        var effects = [updateState { $0.replica = newID }] + entries
        if let retryAt = session.retryAt { effects.append(.wake(at: retryAt)) }
        return effects
    }

    /// Begins a full download with the next request.
    mutating func beginPass() {
        session.needsPass = false
        let settled = table.entries.values.filter { $0.mark == .settled }.map(\.record)
        session.pass = SyncSession.FullPass(
            isFirst: !state.initialSyncCompleted, abandoned: state.download,
            candidates: Dictionary(uniqueKeysWithValues: settled.map { ($0.key, $0.stamp) }))
    }

    /// Everything has been seen once.
    private mutating func finishPass(changed: inout [String], at now: Moment) -> [Effect] {
        guard let pass = session.pass else { return [] }
        session.pass = nil
        var effects: [Effect] = []
        let hasLost = hasLost(pass)
        if hasLost {
            clock.confirmed =
                pass.seen.values.map { HybridClock.Reading($0.stamp) }.max() ?? .init()
        }
        for entry in table.entries.values.sorted(by: { $0.record.stamp < $1.record.stamp }) {
            var entry = entry
            let key = entry.record.key
            if entry.mark == .provisional {
                entry.record.stamp = clock.next(now: now.wall, replica: id)
                entry.mark = .pending
            } else if entry.mark == .settled,
                // What settled meanwhile may have settled in the history that is lost.
                hasLost || pass.candidates[key] == entry.record.stamp
            {
                switch pass.seen[key] {
                case nil where !hasLost:
                    // The daemon has dropped the tombstone that removed the key. The stamp stays, so
                    // that the mark here is never newer than what it stands for.
                    entry.record.content = .tombstone
                case let seen? where !entry.record.supersedes(seen): continue
                default: entry.mark = .pending
                }
            } else {
                continue
            }
            if table.put(entry) { changed.append(key) }
            effects.append(.append(Self.entry(entry)))
        }
        effects.append(
            updateState { state in
                state.epoch = pass.epoch
                state.cursor = pass.cursor
                state.initialSyncCompleted = true
                state.download = nil
                state.lastSyncMilliseconds = now.wall
            })
        return effects
    }

    private mutating func moveCursor(
        to cursor: UInt64, epoch: String, at now: Moment
    ) -> [Effect] {
        let isOld = state.lastSyncMilliseconds.map { abs(now.wall - $0) >= 60_000 } ?? true
        let isAhead = cursor >= state.cursor && (cursor, epoch) != (state.cursor, state.epoch ?? "")
        guard isAhead || isOld else { return [] }
        return [
            updateState { state in
                if isAhead { (state.epoch, state.cursor) = (epoch, cursor) }
                state.lastSyncMilliseconds = now.wall
            }
        ]
    }

    /// The daemon's clock at the middle of the round trip, compared with the device's. Half a second
    /// is within what a slow round trip can feign and is left alone.
    private mutating func learnOffset(from response: SyncResponse, sent: Moment, now: Moment) {
        let elapsed = max(0, now.monotonic - sent.monotonic)
        let offset = response.serverTime - (now.wall - elapsed / 2)
        let slack = 500 + elapsed / 2
        if abs(offset) <= slack {
            clock.offsetMilliseconds = 0
        } else if abs(offset - clock.offsetMilliseconds) > slack {
            clock.offsetMilliseconds = offset
        }
    }

    private mutating func finishWaiters() -> [Effect] {
        let done = session.waiters.filter(\.isServed)
        session.waiters.removeAll(where: \.isServed)
        return done.map { waiter in
            .finish(
                waiter: waiter.id,
                .synchronized(
                    SyncReport(
                        sentKeyCount: session.counts.sent - waiter.start.sent,
                        receivedKeyCount: session.counts.received - waiter.start.received,
                        pendingKeyCount: table.pendingKeys.count)))
        }
    }
}
