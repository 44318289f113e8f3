import KVStore
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// A request has arrived at the cloud.
    func receive(_ request: SyncRequest, id: UInt64, from driver: CloudDriver) {
        let machine = driver.program.machine
        let arrival = virtualClock.milliseconds
        if let seconds = machine.network.withLock({ $0.faults.throttleSeconds(now: arrival) }) {
            log("the cloud asks \(driver.program.label) to wait \(seconds) s")
            record(.throttled, of: .request, on: machine)
            let refusal = SyncTransportError.busy(retryAfterSeconds: seconds)
            return carry(.message(.answered(id: id, .failure(refusal)), driver), .answer, of: machine)
        }
        let store = driver.storeID
        let now = virtualClock.wall
        let (before, result, after) = hub.withLock { hub in
            let before = hub.ledger.hub(store)?.records(of: request.changes) ?? [:]
            let result = Result { () throws(SyncTransportError) in
                try hub.apply(request, to: store, now: now)
            }
            return (before, result, hub.ledger.hub(store)?.records(of: request.changes) ?? [:])
        }
        if case .success(let response) = result {
            log(
                Decision.made(on: request.changes, rejections: response.rejections, before: before, after: after),
                at: .cloud, in: store)
            recordSync(request, response, of: driver, before: before)
        }
        carry(.message(.answered(id: id, result), driver), .answer, of: machine)
        feedStreams()
    }

    func openStream(of driver: CloudDriver, id: UInt64, since: SyncCursor) {
        guard driver.awaits(.stream(id: id, .opened)) else { return }
        let isReset = hub.withLock { hub in
            hub.ledger.hub(driver.storeID)?.endsStream(at: since) ?? true
        }
        guard case .arrives(let delays) = arrivals(of: nil, driver.program.machine) else { return }
        let arrival = virtualClock.milliseconds + delays[0]
        guard !isReset else {
            return schedule(.message(.stream(id: id, .reset), driver), at: arrival)
        }
        schedule(.message(.stream(id: id, .opened), driver), at: arrival)
        // Notices the end of a former stream of the device first.
        feedStreams()
        let stream = CloudHub.Stream(driver: driver, id: id, cursor: since, lastArrival: arrival)
        hub.withLock { $0.streams.append(stream) }
        record("connected", stream)
        feedStreams()
    }

    /// Sends every stream what is new to it. A lost event breaks its stream.
    private func feedStreams() {
        let (broken, ended) = hub.withLock { hub in
            var intact: [CloudHub.Stream] = []
            var (broken, ended): ([CloudHub.Stream], [CloudHub.Stream]) = ([], [])
            for var stream in hub.streams {
                guard stream.driver.awaits(.stream(id: stream.id, .heartbeat)) else {
                    ended.append(stream)
                    continue
                }
                let events = hub.takeUnreadEvents(of: &stream)
                if send(events, on: &stream) {
                    intact.append(stream)
                } else {
                    broken.append(stream)
                }
            }
            hub.streams = intact
            return (broken, ended)
        }
        for stream in ended { record("disconnected", stream) }
        for stream in broken {
            log("the network breaks the stream of \(stream.driver.program.label)")
            breakUp([stream], "the connection broke", at: stream.lastArrival)
        }
    }

    /// Returns whether all events are on their way; those behind a lost one are not sent.
    private func send(_ events: [SyncEvent], on stream: inout CloudHub.Stream) -> Bool {
        let machine = stream.driver.program.machine
        for event in events {
            guard case .arrives(let delays) = arrivals(of: .event, machine) else { return false }
            stream.lastArrival = max(stream.lastArrival, virtualClock.milliseconds + delays[0])
            schedule(.message(.stream(id: stream.id, event), stream.driver), at: stream.lastArrival)
        }
        return true
    }

    // MARK: - The cloud's own life

    /// Ends the cloud's daemon and starts it again. Connections break; what was acknowledged is there.
    ///
    /// - Parameter end: how it ends. With a power failure it loses what is not on its disk.
    public func restart(after end: CloudDevice.End = .quit) {
        let seed = newSeed()
        log("the cloud restarts after \(end)")
        record("restarted") { $0.end = "\(end)" }
        let streams = hub.withLock { hub in
            if end == .powerFailure { hub.disk.powerFails() }
            hub.restart(seed: seed)
            return hub.removeStreams()
        }
        breakUp(streams, "the daemon stopped")
    }

    /// Keeps a copy of everything that the cloud holds, in place of an earlier one.
    public func backUp() {
        log("a backup is made")
        record("backup")
        hub.withLock { $0.backup = $0.disk.snapshot() }
    }

    /// Puts the cloud back to its backup, as an operator does after a loss: what came later is gone there, and comes
    /// back from the devices that have it.
    public func restoreBackup() {
        let seed = newSeed()
        let streams = hub.withLock { hub in
            guard let backup = hub.backup else {
                preconditionFailure("restoreBackup() needs a backUp() before it")
            }
            hub.disk.restore(backup)
            hub.restart(seed: seed)
            do throws(LogError) {
                try hub.renewEpochs()
            } catch {
                fatalError("the simulated cloud cannot write to its own disk: \(error)")
            }
            return hub.removeStreams()
        }
        log("the backup is restored")
        record("restored")
        breakUp(streams, "the daemon stopped")
    }

    func breakUp(_ streams: [CloudHub.Stream], _ reason: String, at time: Int64 = 0) {
        for stream in streams {
            record("disconnected", stream)
            schedule(.deliver(.streamEnded(id: stream.id, .unreachable(reason)), stream.driver), at: time)
        }
    }
}

extension CloudHub {
    /// What a stream has not been sent yet, in order.
    fileprivate func takeUnreadEvents(of stream: inout Stream) -> [SyncEvent] {
        guard let hub = ledger.hub(stream.driver.storeID) else { return [] }
        if hub.endsStream(at: stream.cursor) {
            stream.cursor = hub.end
            return [.reset]
        }
        var events: [SyncEvent] = []
        let durable = ledger.durableSequence(of: stream.driver.storeID)
        var hasMore = true
        while hasMore {
            let page = hub.page(after: stream.cursor.sequence, through: durable)
            if !page.changes.isEmpty { events.append(.changes(page.changes)) }
            stream.cursor.sequence = page.cursor
            hasMore = page.hasMore
        }
        return events
    }
}
