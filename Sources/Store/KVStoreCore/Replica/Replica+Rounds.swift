extension Replica {
    package mutating func handle(_ event: Event, at now: Instant) -> Ready {
        switch event {
        case .attached(let isLive):
            session.phase = .idle
            session.isLive = isLive
            session.isPullDue = isLive
            startRound(at: now)
        case .answered(let id, let result):
            guard let exchange = session.exchange, exchange.id == id else { break }
            switch result {
            case .success(let response): answered(exchange, with: response, at: now)
            case .failure(let error): fail(exchange, error, at: now)
            }
        case .stream(let id, let event):
            if session.stream.carries(id) { received(event, at: now) }
        case .streamEnded(let id, let error):
            guard session.stream.id == id else { break }
            session.stream = .closed
            backOff(error ?? .unreachable("the daemon ended the stream"), at: now)
        case .woke:
            if session.backOffTime ?? 0 <= now.monotonic { session.endBackOff() }
            if let time = session.refusal?.retryTime, time <= now.monotonic {
                let pending = unblocked.sorted(by: Self.isTriedBefore).map(Refusal.Change.init)
                if pending.isEmpty { session.refusal = nil }
                session.refusal?.beginTrial(of: pending)
            }
            startRound(at: now)
            ready.wakeAt = session.wakeTime
        }
        return takeReady()
    }

    /// Whether the event concerns something that is under way; `handle` ignores others.
    package func awaits(_ event: Event) -> Bool {
        switch event {
        case .attached: true
        case .answered(let id, _): session.exchange?.id == id
        case .stream(let id, _): session.stream.carries(id)
        case .streamEnded(let id, _): session.stream.id == id
        case .woke: session.wakeTime != nil
        }
    }

    /// Whether the answer under way is a page of a full download.
    package var isDownloading: Bool { session.download != nil }

    /// How to go on after the entries of an event could not be written (a full disk), which leaves the replica as it
    /// was, except that a stream does not continue past an event that is missing, or past its end.
    package mutating func recovery(from event: Event, cause: SyncTransportError) -> Event.Recovery {
        switch event {
        case .answered(let id, .success): return .handle(.answered(id: id, .failure(cause)))
        case .stream(let id, _):
            interruptStream(id)
            return .handle(.streamEnded(id: id, cause))
        case .streamEnded(let id, _):
            interruptStream(id)
            return .redeliver
        case .answered, .woke: return .redeliver
        case .attached: return .drop
        }
    }

    private mutating func interruptStream(_ id: UInt64) {
        if session.stream.id == id { session.stream = .interrupted(id: id) }
    }

    /// Requests a round trip that begins after this call. Its outcome is in the `completions` of a later `Ready`, or
    /// of this one when there is no transport.
    ///
    /// - Parameter onlySends: whether the outcome of what has been written is enough: a request under way that carries
    ///   all of it counts too, and none is needed once the daemon has accepted it in this session.
    package mutating func synchronize(at now: Instant, onlySends: Bool = false) -> (ready: Ready, waiter: UInt64) {
        let waiter = session.nextID()
        guard session.phase != .detached else {
            ready.completions.append(
                Ready.Completion(waiter: waiter, outcome: .failure(.unreachable("no account is joined"))))
            return (takeReady(), waiter)
        }
        if onlySends, table.pendingKeys.isEmpty, session.counts.sent > 0 {
            ready.completions.append(Ready.Completion(waiter: waiter, outcome: .success(report(since: session.counts))))
            return (takeReady(), waiter)
        }
        let isCarried = onlySends && carriesAll
        session.waiters.append(SyncSession.Waiter(id: waiter, start: session.counts, isServed: isCarried))
        guard !isCarried else { return (takeReady(), waiter) }
        session.isPullDue = true
        session.endBackOff()
        session.blocked = [:]
        session.refusal?.release()
        startRound(at: now)
        return (takeReady(), waiter)
    }

    /// Whether the request under way carries everything that is pending.
    private var carriesAll: Bool {
        guard let request = session.exchange?.request, !request.changes.isEmpty else { return false }
        let carried = Set(request.changes.map(\.stamp))
        return table.pendingKeys.allSatisfy { key in
            table[key].map { carried.contains($0.record.stamp) } ?? true
        }
    }

    /// Sends what other processes have appended, if now is the time.
    package mutating func resume(at now: Instant) -> Ready {
        startRound(at: now)
        return takeReady()
    }

    /// Sends pending records and asks for changes, if now is the time; opens the stream when there is nothing
    /// left to ask for. What the daemon refuses keeps nothing from being received: it is sent apart, and last.
    mutating func startRound(at now: Instant) {
        guard session.phase == .idle else { return }
        let isApart = session.refusal != nil
        let changes = isApart && session.isPullDue ? [] : nextChanges()
        let isDue = session.isPullDue || !changes.isEmpty || !state.initialSyncCompleted && !table.pendingKeys.isEmpty
        if !isDue || isApart && !session.isPullDue { openStreamIfDue() }
        guard isDue else {
            if isApart, !unblocked.isEmpty {
                session.refusal?.awaitTrial(at: now, using: &random)
                ready.wakeAt = session.wakeTime
            }
            return
        }
        let request: SyncRequest
        if let download = beginDownloadIfDue() {
            request = SyncRequest(replica: id, since: download.progress?.cursor, horizon: download.progress?.horizon)
        } else {
            request = SyncRequest(replica: id, since: state.cursor, changes: changes)
        }
        let outgoing = Ready.Outgoing(id: session.nextID(), request: request)
        session.phase = .exchanging(SyncSession.Exchange(id: outgoing.id, request: request, sent: now))
        session.isPullDue = false
        for index in session.waiters.indices { session.waiters[index].isServed = true }
        ready.request = outgoing
        ready.mustSync = !request.changes.isEmpty
    }

    /// The full download under way, or one that begins now because it is due.
    private mutating func beginDownloadIfDue() -> FullDownload? {
        if let download = session.download { return download }
        guard
            session.transfer == .downloadDue || state.cursor == nil || state.partialDownload != nil
        else { return nil }
        let acknowledged = table.entries.values.filter { $0.status == .acknowledged }
        let download = FullDownload(
            isFirst: !state.initialSyncCompleted, abandoned: state.partialDownload,
            candidates: Dictionary(uniqueKeysWithValues: acknowledged.map { ($0.record.key, $0.record.stamp) }))
        session.transfer = .download(download)
        // It could still bring a removal that the daemon had already forgotten when the download began.
        if session.stream != .closed { closeStream() }
        return download
    }

    private mutating func openStreamIfDue() {
        guard session.isLive, session.stream == .closed, let cursor = state.cursor else { return }
        let id = session.nextID()
        session.stream = .opening(id: id, epoch: cursor.epoch)
        ready.stream = .open(id: id, since: cursor)
    }

    /// The pending records that come first and fit into one request; none between the pages of a transfer.
    private func nextChanges() -> [StoreRecord] {
        guard state.initialSyncCompleted, session.download?.progress == nil,
            session.transfer != .incremental(isBehind: true)
        else { return [] }
        var waiting = sendable
        if session.refusal == nil {
            waiting.sort { $0.stamp < $1.stamp }
        } else {
            waiting.sort(by: Self.isTriedBefore)
            // Nothing that grows keeps them from being accepted.
            if waiting.first?.content.isTombstone == true { waiting.removeAll { !$0.content.isTombstone } }
        }
        var changes: [StoreRecord] = []
        var byteCount = 0
        for record in waiting.prefix(min(page.recordCount, session.refusal?.batchLimit ?? .max)) {
            byteCount += record.wireByteCount
            if !changes.isEmpty, byteCount > page.byteCount { break }
            changes.append(record)
        }
        return changes
    }

    /// The pending records that the daemon may accept.
    private var unblocked: [StoreRecord] {
        table.pendingKeys.compactMap { table[$0]?.record }.filter { session.blocked[$0.key] != $0.stamp }
    }

    /// Those of them that do not wait for a trial.
    private var sendable: [StoreRecord] {
        guard let refusal = session.refusal else { return unblocked }
        let held = Set(refusal.held)
        return unblocked.filter {
            !held.contains(Refusal.Change($0)) && ($0.content.isTombstone || !refusal.isWaiting)
        }
    }

    /// The keys whose changes the daemon refuses, sorted.
    package var refusedKeys: [StoreKey] {
        guard state.initialSyncCompleted else { return [] }
        return table.pendingKeys.subtracting(sendable.map(\.key)).sorted()
    }

    /// Why, unless it is a quota.
    package var refusal: String? { table.pendingKeys.isEmpty ? nil : session.refusal?.cause?.description }

    /// The order of what the daemon has refused together: removals first, then by size.
    private static func isTriedBefore(_ one: StoreRecord, _ other: StoreRecord) -> Bool {
        (one.content.isTombstone ? 0 : 1, one.wireByteCount, one.stamp)
            < (other.content.isTombstone ? 0 : 1, other.wireByteCount, other.stamp)
    }

    /// The exchange has failed, and with it the download that it was a part of. Waiters that joined meanwhile fail
    /// too: at once rather than after the back-off.
    mutating func fail(
        _ exchange: SyncSession.Exchange, _ error: SyncTransportError, at now: Instant
    ) {
        if error.concernsChanges, !exchange.request.changes.isEmpty {
            return refused(exchange, error, at: now)
        }
        session.phase = .idle
        session.abandonDownload()
        // A device that may only read does not create the store: until another one does, it is empty.
        let isEmptyStore = error.isUnknownStore && exchange.request.since == nil && table.entries.isEmpty
        ready.completions += session.waiters.map {
            Ready.Completion(waiter: $0.id, outcome: isEmptyStore ? .success(SyncReport()) : .failure(error))
        }
        session.waiters = []
        backOff(error, at: now)
    }

    /// The daemon refuses the changes of a request, which must not keep the device from receiving: asks again, without
    /// them. A device that may not write sends them again when the next round trip is requested.
    private mutating func refused(_ exchange: SyncSession.Exchange, _ error: SyncTransportError, at now: Instant) {
        let changes = exchange.request.changes
        if session.refusal == nil { session.isPullDue = true }
        session.refusal = session.refusal ?? Refusal()
        session.refusal?.note(error, of: changes)
        if error.isReadOnly { for change in changes { session.blocked[change.key] = change.stamp } }
        session.phase = exchange.backOffUntil.map { .backingOff(until: $0) } ?? .idle
        startRound(at: now)
        if session.exchange == nil, !session.isPullDue { completeWaiters() }
    }

    private mutating func backOff(_ error: SyncTransportError, at now: Instant) {
        session.failures.last = error
        session.isPullDue = true
        var requested: Int64?
        if case .busy(let seconds?) = error, seconds.isFinite {
            requested = Int64(min(max(seconds, 0), 600) * 1_000)
        }
        let wait = session.failures.backoff.next(atLeast: requested, using: &random)
        session.backOff(until: now.monotonic + wait)
        ready.wakeAt = session.wakeTime
    }

    private mutating func received(_ event: SyncEvent, at now: Instant) {
        switch event {
        case .heartbeat: break
        case .opened:
            streamIsOpen()
            session.failures.last = nil
            session.failures.backoff.reset()
        case .reset:
            closeStream()
            session.isPullDue = true
            countFruitless(at: now)
            startRound(at: now)
        case .changes(let changes):
            guard changes.allSatisfy({ KeyProfile.standard.allows($0.record.key) }) else {
                closeStream()
                return backOff(.malformed("a change with an invalid key"), at: now)
            }
            // Another process may have moved on to another epoch; the daemon then ends this stream.
            guard streamIsOpen() == state.cursor?.epoch, let cursor = state.cursor else { return }
            var sequence = cursor.sequence
            var changed: [StoreKey] = []
            // A faster answer has already brought the others or later ones of their keys, even ones with older stamps:
            // the daemon may have forgotten a removal, and accepted an older write after it.
            for change in changes where change.sequence > sequence {
                apply(change, changed: &changed)
                sequence = change.sequence
            }
            guard sequence > cursor.sequence else { return }
            updateState { state in
                state.cursor = SyncCursor(epoch: cursor.epoch, sequence: sequence)
                state.lastSyncMilliseconds = now.wall
            }
            notify(.serverChange, changed)
        }
    }

    /// Returns the stream's epoch.
    @discardableResult
    private mutating func streamIsOpen() -> EpochID? {
        switch session.stream {
        case .opening(let id, let epoch), .open(let id, let epoch):
            session.stream = .open(id: id, epoch: epoch)
            return epoch
        case .closed, .interrupted: return nil
        }
    }

    private mutating func closeStream() {
        session.stream = .closed
        ready.stream = .close
    }
}
