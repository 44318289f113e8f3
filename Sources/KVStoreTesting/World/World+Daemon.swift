import KVStore

extension World {
    func startDaemon() throws(Violation) {
        guard daemon.ledger == nil else { return }
        var ledgerOptions = HubLedger.Options()
        ledgerOptions.segmentByteCount = options.segmentByteCount
        do throws(LogError) {
            daemon.ledger = try HubLedger(
                storage: daemon.disk.storage(), options: ledgerOptions, seed: random.next())
        } catch {
            note("daemon failed to start", "\(error)")
            daemon.disk.processEnded()
            queue.add(.startDaemon, at: time + delay(100...3_000))
            return
        }
        note("daemon", "started at \(daemon.hub?.sequence ?? 0)")
        try checkAcknowledged()
    }

    func daemonEnds() {
        daemon.ledger = nil
        daemon.waiting = []
        daemon.isSyncDue = false
        daemon.disk.processEnded()
        for stream in daemon.streams { end(stream) }
        daemon.streams = []
        queue.add(.startDaemon, at: time + delay(10...5_000))
    }

    private func end(_ stream: SimulatedDaemon.Stream) {
        let address = ProcessAddress(
            device: stream.device, process: stream.process, incarnation: stream.incarnation)
        // A half-open connection is noticed late.
        let notice = options.hasNetworkFaults && isLikely(30) ? delay(5_000...40_000) : 5
        queue.add(
            .streamEnded(address, id: stream.streamID), at: max(stream.lastDelivery, time + notice))
    }

    func receive(
        _ request: SyncRequest, id: UInt64, from address: ProcessAddress
    ) throws(Violation) {
        guard let ledger = daemon.ledger else {
            return reply(.failure(.unreachable("connection refused")), id: id, to: address)
        }
        let response: SyncResponse
        do throws(HubLedger.Fault) {
            response = try ledger.apply(request, to: SimulatedDaemon.store, now: daemonTime)
        } catch {
            note("request failed", "\(error)")
            if case .log(.storage(let failure)) = error, failure.isOutOfSpace,
                !daemon.disk.wasKilled
            {
                return reply(
                    .failure(.refused(status: 507, code: "full", message: "disk full")), id: id,
                    to: address)
            }
            return daemonEnds()
        }
        note(
            "request",
            "\(name(address)) \(request.changes.count) up \(response.changes.count) down "
                + "cursor \(response.cursor) initial \(response.initial)")
        try checkIdempotence(of: request)
        daemon.waiting.append(
            SimulatedDaemon.Waiting(
                device: address.device, process: address.process,
                incarnation: address.incarnation, requestID: id, response: response))
        if !daemon.isSyncDue {
            daemon.isSyncDue = true
            queue.add(.daemonSync, at: time + delay(1...20))
        }
    }

    /// One disk sync for all requests that wait, then their answers and the news.
    func syncDaemon() throws(Violation) {
        guard let ledger = daemon.ledger, daemon.isSyncDue else { return }
        daemon.isSyncDue = false
        do throws(LogError) {
            if let pending = try ledger.prepareSync() {
                do throws(StorageFailure) {
                    try pending.sync.perform()
                    ledger.finish(pending, failure: nil)
                } catch {
                    ledger.finish(pending, failure: error)
                    throw LogError.storage(error)
                }
            }
            while ledger.isCompactionDue { try ledger.compactStep() }
        } catch {
            note("daemon sync failed", "\(error)")
            return daemonEnds()
        }
        noteAcknowledged()
        let waiting = daemon.waiting
        daemon.waiting = []
        for answer in waiting {
            reply(
                .success(answer.response), id: answer.requestID,
                to: ProcessAddress(
                    device: answer.device, process: answer.process,
                    incarnation: answer.incarnation))
        }
        for index in daemon.streams.indices { feed(index) }
    }

    private func reply(
        _ result: Result<SyncResponse, SyncTransportError>, id: UInt64, to address: ProcessAddress
    ) {
        guard let arrival = arrival(for: address.device) else { return }
        queue.add(.answer(address, id: id, result), at: arrival)
    }

    // MARK: - Streams

    func openStream(_ address: ProcessAddress, id: UInt64, since: UInt64, epoch: String) {
        guard self[address]?.streamID == id else { return }
        guard let hub = daemon.hub else {
            queue.add(.streamEnded(address, id: id), at: time + 5)
            return
        }
        if hub.startsOver(epoch: epoch, since: since) {
            queue.add(.stream(address, id: id, .reset), at: time + 5)
            return
        }
        queue.add(.stream(address, id: id, .opened), at: time + 5)
        daemon.streams.append(
            SimulatedDaemon.Stream(
                device: address.device, process: address.process,
                incarnation: address.incarnation, streamID: id, epoch: epoch, cursor: since,
                lastDelivery: time + 5))
        feed(daemon.streams.count - 1)
    }

    /// Sends a stream what is durable and new to it, in order, until the network breaks it.
    private func feed(_ index: Int) {
        guard let ledger = daemon.ledger, let hub = daemon.hub else { return }
        var stream = daemon.streams[index]
        defer { daemon.streams[index] = stream }
        let address = ProcessAddress(
            device: stream.device, process: stream.process, incarnation: stream.incarnation)
        guard self[address]?.streamID == stream.streamID else { return }
        if hub.startsOver(epoch: stream.epoch, since: stream.cursor) {
            queue.add(
                .stream(address, id: stream.streamID, .reset), at: max(stream.lastDelivery, time))
            stream.cursor = hub.sequence
            stream.epoch = hub.epoch
            return
        }
        let durable = ledger.durableSequence(of: SimulatedDaemon.store)
        let page = hub.page(after: stream.cursor, through: durable)
        for change in page.changes {
            guard let arrival = arrival(for: stream.device) else {
                // The connection breaks in the middle of the stream; nothing after this gets through.
                queue.add(
                    .streamEnded(address, id: stream.streamID),
                    at: max(stream.lastDelivery, time + delay(10...40_000)))
                stream.streamID = 0
                return
            }
            stream.lastDelivery = max(stream.lastDelivery, arrival)
            queue.add(
                .stream(address, id: stream.streamID, .change(change)), at: stream.lastDelivery)
        }
        stream.cursor = page.cursor
    }
}
