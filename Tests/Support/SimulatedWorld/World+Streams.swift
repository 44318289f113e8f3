import KVStore
import KVStoreCore
import KVStoreLedger
import KVStoreTesting

/// Live readers, and a model of what each of them must receive.
extension World {
    func openStream(_ address: ProcessAddress, id: UInt64, since: SyncCursor) throws(Violation) {
        guard isAwaited(.stream(id: id, .opened), at: address) else { return }
        let store = devices[address.device].store
        guard let hub = daemon.hub(store), let arrival = eventArrival(at: address.device) else {
            queue.add(.deliver(.streamEnded(id: id, nil), address), at: time + delay(5...40_000))
            return
        }
        if hub.endsStream(at: since) {
            queue.add(.message(.stream(id: id, .reset), address, sent: time), at: arrival)
            return
        }
        if since.sequence < facts[store]?.forgottenSequence ?? 0 {
            throw violation("a reader below the horizon is reset", "\(name(address)) since \(since)")
        }
        queue.add(.message(.stream(id: id, .opened), address, sent: time), at: arrival)
        let isSlow = options.hasNetworkFaults && isLikely(25)
        if isSlow { count("slow reader") }
        daemon.streams.append(
            SimulatedDaemon.Stream(address: address, streamID: id, cursor: since, lastDelivery: arrival, isSlow: isSlow)
        )
        try feedOrWait(daemon.streams.count - 1)
    }

    /// A slow reader reads once in a while.
    func feed(_ address: ProcessAddress, id: UInt64) throws(Violation) {
        guard
            let index = daemon.streams.firstIndex(where: {
                $0.address == address && $0.streamID == id
            })
        else { return }
        daemon.streams[index].isFeedScheduled = false
        try feed(index)
    }

    func feedOrWait(_ index: Int) throws(Violation) {
        guard daemon.streams[index].isSlow, !isHealing else { return try feed(index) }
        guard !daemon.streams[index].isFeedScheduled else { return }
        daemon.streams[index].isFeedScheduled = true
        let stream = daemon.streams[index]
        queue.add(.feed(stream.address, id: stream.streamID), at: time + delay(1_000...30_000))
    }

    /// Sends a stream its durable unread changes, in order, until the network breaks it.
    private func feed(_ index: Int) throws(Violation) {
        var stream = daemon.streams[index]
        let store = devices[stream.address.device].store
        guard let ledger = daemon.ledger, let hub = daemon.hub(store), !stream.isBroken,
            isAwaited(.stream(id: stream.streamID, .heartbeat), at: stream.address)
        else { return }
        defer { daemon.streams[index] = stream }
        if hub.endsStream(at: stream.cursor) {
            queue.add(
                .message(.stream(id: stream.streamID, .reset), stream.address, sent: time),
                at: max(stream.lastDelivery, time))
            stream.isBroken = true
            return
        }
        let page = hub.page(after: stream.cursor.sequence, through: ledger.durableSequence(of: store))
        try check(page, of: stream)
        // The daemon sends a page at once, and an older one each change by itself.
        let events = Bool.random(using: &random) ? [page.changes] : page.changes.map { [$0] }
        for changes in events where !changes.isEmpty {
            guard let arrival = eventArrival(at: stream.address.device) else {
                // The connection breaks in the middle of the stream; nothing after this gets through.
                queue.add(
                    .deliver(.streamEnded(id: stream.streamID, nil), stream.address),
                    at: max(stream.lastDelivery, time + delay(10...40_000)))
                stream.isBroken = true
                return
            }
            stream.lastDelivery = max(stream.lastDelivery, arrival)
            queue.add(
                .message(.stream(id: stream.streamID, .changes(changes)), stream.address, sent: time),
                at: stream.lastDelivery)
        }
        stream.cursor.sequence = page.cursor
    }

    /// No gap, no duplicate, in order: a number is left out only where its key has changed again.
    private func check(_ page: Hub.Page, of stream: SimulatedDaemon.Stream) throws(Violation) {
        let facts = facts[devices[stream.address.device].store] ?? StoreFacts()
        let start = stream.cursor.sequence
        var last = start
        for change in page.changes {
            guard change.sequence > last else {
                throw violation("a stream is in order", "\(name(stream.address)) \(last), then \(change)")
            }
            if facts.keyOfSequence[change.sequence] != change.record.key {
                throw violation("a stream carries what happened", "\(name(stream.address)) \(change)")
            }
            if change.sequence > facts.durableSequence {
                throw violation("a live reader receives durable changes only", "\(name(stream.address)) \(change)")
            }
            last = change.sequence
        }
        let sent = Set(page.changes.map(\.sequence))
        let missing = facts.current(after: start, through: page.cursor).filter {
            !sent.contains($0)
        }
        if let gap = missing.min() {
            throw violation("a stream has no gap", "\(name(stream.address)) from \(start) without \(gap)")
        }
    }

    func isAwaited(_ event: Event, at address: ProcessAddress) -> Bool {
        self[address]?.durable.replica.awaits(event) == true
    }
}
