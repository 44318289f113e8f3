import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation
import KVStoreTesting
import LocalFiles

extension World {
    func startDaemon() throws(Violation) {
        guard daemon.ledger == nil else { return }
        var ledgerOptions = Ledger.Options()
        ledgerOptions.segmentByteCount = options.segmentByteCount
        ledgerOptions.page = options.page
        ledgerOptions.compactionByteCount = 1_024
        ledgerOptions.defersSegments = true
        daemon.storage = daemon.disk.storage()
        do throws(LogError) {
            daemon.ledger = try Ledger(storage: daemon.storage, options: ledgerOptions, seed: random.next())
        } catch {
            log("daemon failed to start", "\(error)")
            daemon.storage.kill()
            if case .damaged = error { try repairDaemon() }
            queue.add(.startDaemon, at: time + delay(100...3_000))
            return
        }
        log("daemon", "started at \(stores.map { daemon.hub($0)?.sequence ?? 0 })")
        for _ in daemon.ledger?.recovery.cutWrites ?? [] { count("write of the daemon cut") }
        for store in stores { facts[store, default: StoreFacts()].begin(with: daemon.hub(store)) }
        try checkAcknowledged()
    }

    func daemonEnds() {
        daemon.ledger = nil
        daemon.waiting = []
        daemon.parked = []
        daemon.isSyncDue = false
        daemon.storage.kill()
        endStreams()
        queue.add(.startDaemon, at: time + delay(10...5_000))
    }

    /// Breaks the streams of one device or of all.
    func endStreams(of device: Int? = nil) {
        let broken = daemon.streams.filter { device == nil || $0.address.device == device }
        daemon.streams.removeAll { device == nil || $0.address.device == device }
        for stream in broken { end(stream) }
    }

    private func end(_ stream: SimulatedDaemon.Stream) {
        // A half-open connection is noticed late.
        let isLate = options.hasNetworkFaults && isLikely(30)
        if isLate { count("end of a stream noticed late") }
        let notice = isLate ? delay(5_000...40_000) : 5
        queue.add(
            .deliver(.streamEnded(id: stream.streamID, nil), stream.address),
            at: max(stream.lastDelivery, time + notice))
    }

    func receive(_ request: SyncRequest, id: UInt64, from address: ProcessAddress) throws(Violation) {
        guard let ledger = daemon.ledger else {
            return reply(.failure(.unreachable("connection refused")), id: id, to: address)
        }
        if self[address]?.requestID != id { count("request that nobody waits for") }
        if let seconds = devices[address.device].network.faults.throttleSeconds(now: time) {
            count("throttled request")
            return reply(.failure(.busy(retryAfterSeconds: seconds)), id: id, to: address)
        }
        let store = devices[address.device].store
        latestDaemonTime = max(latestDaemonTime, daemonTime)
        let before = daemon.hub(store)?.records(of: request.changes) ?? [:]
        let response: SyncResponse
        do throws(LogError) {
            response = try ledger.apply(
                request, to: store, now: daemonTime,
                limits: Ledger.AccountLimits(byteCount: daemon.byteLimits[store.account]))
        } catch {
            if case .needsSegment = error {
                log("wait for a segment", name(address))
                daemon.parked.append((request, id, address))
                return scheduleSync()
            }
            log("request failed", "\(error)")
            if case .closedByFailure = error { syncFailed(error) }
            return refuse(id: id, from: address, error)
        }
        log(
            "request",
            "\(name(address)) up \(request.changes.map(\.key)) " + "down \(response.changes.map(\.record.key)) "
                + "cursor \(response.cursor) horizon \(response.horizon)" + (response.isInitial ? " initial" : "")
                + (response.rejections.isEmpty ? "" : " \(response.rejections.map(\.reason))"))
        for decision in Decision.made(
            on: request.changes, rejections: response.rejections, before: before,
            after: daemon.hub(store)?.records(of: request.changes) ?? [:])
        {
            log(
                "decision",
                "\(decision.key) \(decision.winner) \(decision.reason.name), "
                    + "incoming \(Self.describe(decision.incoming)), " + "present \(Self.describe(decision.present))")
        }
        for rejection in response.rejections {
            guard case .clock = rejection.reason else { continue }
            facts[store, default: StoreFacts()].refused.merge([rejection.key: rejection.stamp], uniquingKeysWith: max)
        }
        try checkTaken(request, into: store)
        daemon.waiting.append(SimulatedDaemon.Waiting(address: address, requestID: id, response: response))
        if strikesUnsynced() { return daemonFails(losesPower: true) }
        scheduleSync()
    }

    /// Answers that the disk failed, or ends.
    private func refuse(id: UInt64, from address: ProcessAddress, _ error: LogError) {
        guard daemon.ledger != nil else { return }
        if case .accountFull = error {
            let refusal = SyncTransportError.refused(status: 507, code: "account-full", message: "\(error)")
            return reply(.failure(refusal), id: id, to: address)
        }
        let isFull =
            switch error {
            case .storage(let failure): failure.isOutOfSpace
            case .closedByFailure: true
            default: false
            }
        if isFull && !daemon.storage.isKilled || livesThrough(error, of: daemon.storage) {
            return reply(.failure(.refused(status: 507, code: "disk", message: "the disk failed")), id: id, to: address)
        }
        daemonEnds()
    }

    /// Whether power fails between a write and the sync that was to follow at once.
    func strikesUnsynced() -> Bool {
        options.hasCrashes && !isHealing && Int.random(in: 0..<60, using: &random) == 0
    }

    func scheduleSync() {
        guard !daemon.isSyncDue else { return }
        daemon.isSyncDue = true
        queue.add(.daemonSync, at: time + delay(1...20))
    }

    /// One disk sync for all requests that wait, then their answers and the pending changes.
    func syncDaemon() throws(Violation) {
        guard let ledger = daemon.ledger, daemon.isSyncDue else { return }
        daemon.isSyncDue = false
        do throws(LogError) {
            try ledger.sync()
        } catch {
            return syncFailed(error)
        }
        rememberAcknowledged()
        answerWaiting { .success($0) }
        for index in daemon.streams.indices { try feedOrWait(index) }
        try startSegment(ledger)
        if daemon.ledger === ledger { compact(ledger) }
    }

    /// Creates the next segment, if one is due, and applies the requests that wait for it.
    private func startSegment(_ ledger: Ledger) throws(Violation) {
        let parked = daemon.parked
        daemon.parked = []
        do throws(LogError) {
            if let pending = try ledger.prepareSegment() {
                if strikesUnsynced() { return daemonFails(losesPower: true) }
                try ledger.finish(pending, pending.perform())
            }
        } catch {
            log("no segment", "\(error)")
            if daemon.storage.isKilled { return daemonEnds() }
            for (_, id, address) in parked { refuse(id: id, from: address, error) }
            return
        }
        for (request, id, address) in parked { try receive(request, id: id, from: address) }
    }

    private func answerWaiting(_ result: (SyncResponse) -> Result<SyncResponse, SyncTransportError>) {
        let waiting = daemon.waiting
        daemon.waiting = []
        for answer in waiting {
            reply(result(answer.response), id: answer.requestID, to: answer.address)
        }
    }

    /// The daemon ends, or fails the waiting requests and recovers later.
    private func syncFailed(_ error: LogError) {
        log("daemon sync failed", "\(error)")
        guard !daemon.storage.isKilled, options.goesOnAfterFailures else { return daemonEnds() }
        answerWaiting { _ in
            .failure(.refused(status: 503, code: "disk-failed", message: "the disk failed"))
        }
        let parked = daemon.parked
        daemon.parked = []
        for (_, id, address) in parked { refuse(id: id, from: address, error) }
        queue.add(.daemonRecovery, at: time + delay(10...5_000))
    }

    func recoverDaemon() throws(Violation) {
        guard let ledger = daemon.ledger else { return }
        do throws(LogError) {
            try ledger.checkOpen()
            return
        } catch {
            do throws(LogError) { try ledger.recover() } catch {
                log("recovery failed", "\(error)")
                if daemon.storage.isKilled { return daemonEnds() }
                queue.add(.daemonRecovery, at: time + delay(10...5_000))
                return
            }
        }
        count("daemon recovered from a failed sync")
        rememberAcknowledged()
        for index in daemon.streams.indices { try feedOrWait(index) }
    }

    /// Two steps, so that anything may happen between those of one segment.
    private func compact(_ ledger: Ledger) {
        do throws(LogError) {
            for _ in 0..<2 where ledger.isCompactionDue {
                try ledger.compactStep()
                count("compaction step")
                if strikesUnsynced() { return daemonFails(losesPower: true) }
                scheduleSync()
            }
        } catch {
            log("compaction failed", "\(error)")
            if case .needsSegment = error { return scheduleSync() }
            if case .closedByFailure = error { return syncFailed(error) }
            if !livesThrough(error, of: daemon.storage) { daemonEnds() }
        }
    }

    private func reply(_ result: Result<SyncResponse, SyncTransportError>, id: UInt64, to address: ProcessAddress) {
        carry(.message(.answered(id: id, result), address, sent: time), .answer, of: address.device)
    }
}
