extension Replica {
    package mutating func handle(_ event: Event, at now: Moment) -> [Effect] {
        switch event {
        case .attached(let isLive):
            session.isAttached = true
            session.isLive = isLive
            session.needsRound = isLive
            return startRound(at: now)
        case .synchronize(let waiter):
            guard session.isAttached else {
                return [.finish(waiter: waiter, .failed(.unreachable("no account is joined")))]
            }
            session.waiters.append(SyncSession.Waiter(id: waiter, start: session.counts))
            session.needsRound = true
            session.retryAt = nil
            session.blocked = [:]
            return startRound(at: now)
        case .answered(let response): return answered(response, at: now)
        case .failed(let error):
            guard session.inFlight != nil else { return [] }
            session.inFlight = nil
            session.abandonPass()
            // Also those who came during the flight: they are told at once rather than after the back-off.
            let waiting = session.waiters
            session.waiters = []
            return waiting.map { .finish(waiter: $0.id, .failed(error)) } + backOff(error, at: now)
        case .stream(let event): return received(event, at: now)
        case .streamEnded(let error):
            guard session.stream != .closed else { return [] }
            session.stream = .closed
            return backOff(error ?? .unreachable("the daemon ended the stream"), at: now)
        case .woke:
            if let retryAt = session.retryAt, retryAt > now.monotonic {
                return [.wake(at: retryAt)]
            }
            session.retryAt = nil
            return startRound(at: now)
        }
    }

    /// Sends what is to be sent and asks for what is new, if now is the time; opens the stream when
    /// there is nothing more to ask for.
    mutating func startRound(at now: Moment) -> [Effect] {
        guard session.isAttached, session.inFlight == nil, session.retryAt == nil else { return [] }
        let isPage = session.pass?.epoch != nil || session.isBehind
        let changes = state.initialSyncCompleted && !isPage ? nextChanges() : []
        let isDue =
            session.needsRound || !changes.isEmpty
            || !state.initialSyncCompleted && !table.pendingKeys.isEmpty
        guard isDue else { return openStreamIfDue() }
        if session.pass == nil,
            session.needsPass || state.epoch == nil || state.download != nil
        {
            beginPass()
        }
        let request =
            if let pass = session.pass {
                SyncRequest(
                    replica: id.description, epoch: pass.epoch, since: pass.cursor,
                    horizon: pass.horizon, changes: [])
            } else {
                SyncRequest(
                    replica: id.description, epoch: state.epoch, since: state.cursor,
                    changes: changes)
            }
        session.inFlight = SyncSession.InFlight(request: request, sent: now)
        session.needsRound = false
        for index in session.waiters.indices { session.waiters[index].isServed = true }
        return [.send(request)]
    }

    private mutating func openStreamIfDue() -> [Effect] {
        guard session.isLive, session.stream == .closed, let epoch = state.epoch else { return [] }
        session.stream = .opening
        session.streamEpoch = epoch
        return [.openStream(since: state.cursor, epoch: epoch)]
    }

    /// The oldest pending records that fit into one request.
    private func nextChanges() -> [SyncChange] {
        let waiting = table.pendingKeys
            .compactMap { table[$0]?.record }
            .filter { session.blocked[$0.key] != $0.stamp }
            .sorted { $0.stamp < $1.stamp }
        var changes: [SyncChange] = []
        var byteCount = 0
        for record in waiting.prefix(page.recordCount) {
            byteCount += record.wireByteCount
            if !changes.isEmpty, byteCount > page.byteCount { break }
            changes.append(SyncChange(record))
        }
        return changes
    }

    private mutating func backOff(_ error: SyncTransportError, at now: Moment) -> [Effect] {
        session.lastFailure = error
        session.needsRound = true
        var asked: Int64?
        if case .busy(let seconds?) = error, seconds.isFinite {
            asked = Int64(min(max(seconds, 0), 600) * 1_000)
        }
        let wait = session.backoff.next(atLeast: asked, using: &random)
        session.retryAt = now.monotonic + wait
        return [.wake(at: now.monotonic + wait)]
    }

    private mutating func received(_ event: SyncEvent, at now: Moment) -> [Effect] {
        guard session.stream != .closed else { return [] }
        switch event {
        case .heartbeat: return []
        case .opened:
            session.stream = .open
            session.lastFailure = nil
            session.backoff.reset()
            return []
        case .reset:
            session.stream = .closed
            session.needsRound = true
            return [.closeStream] + startRound(at: now)
        case .change(let change):
            guard let record = change.record, KeyProfile.standard.allows(record.key),
                let seq = change.seq
            else {
                session.stream = .closed
                return [.closeStream]
                    + backOff(.malformed("a change without key, stamp or number"), at: now)
            }
            session.stream = .open
            // Another process may have moved on into another epoch; the daemon ends this stream then.
            guard session.streamEpoch == state.epoch else { return [] }
            var changed: [String] = []
            var effects = receive(record, seq: seq, changed: &changed).map { [$0] } ?? []
            if seq > state.cursor {
                effects.append(
                    updateState { state in
                        state.cursor = seq
                        state.lastSyncMilliseconds = now.wall
                    })
            }
            return effects + notifications(.serverChange, changed)
        }
    }
}

extension Record {
    /// About what the record takes in a message: its key, its value in base64 and the field names.
    package var wireByteCount: Int { key.utf8.count + content.byteCount / 3 * 4 + 120 }
}
