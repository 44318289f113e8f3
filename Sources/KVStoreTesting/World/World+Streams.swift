import KVStore

/// Live readers, and a model of what each of them must receive.
extension World {
    func openStream(
        _ address: ProcessAddress, id: UInt64, since: UInt64, epoch: String
    ) throws(Violation) {
        guard self[address]?.streamID == id else { return }
        let store = devices[address.device].store
        guard let hub = daemon.hub(store),
            let arrival = arrival(for: address.device, isUp: false)
        else {
            queue.add(.streamEnded(address, id: id), at: time + delay(5...40_000))
            return
        }
        if hub.endsStream(epoch: epoch, since: since) {
            queue.add(.stream(address, id: id, .reset, sent: time), at: arrival)
            return
        }
        if since < facts[store]?.forgottenSequence ?? 0 {
            throw violation(
                "a reader below the horizon starts over", "\(name(address)) since \(since)")
        }
        queue.add(.stream(address, id: id, .opened, sent: time), at: arrival)
        let isSlow = options.hasNetworkFaults && isLikely(25)
        if isSlow { count("slow reader") }
        daemon.streams.append(
            SimulatedDaemon.Stream(
                address: address, streamID: id, epoch: epoch, cursor: since,
                lastDelivery: arrival, isSlow: isSlow))
        try feedOrWait(daemon.streams.count - 1)
    }

    /// A slow reader takes what there is once in a while.
    func look(after streamID: UInt64) throws(Violation) {
        guard let index = daemon.streams.firstIndex(where: { $0.streamID == streamID }) else {
            return
        }
        daemon.streams[index].isLookDue = false
        try feed(index)
    }

    func feedOrWait(_ index: Int) throws(Violation) {
        guard daemon.streams[index].isSlow, !isHealing else { return try feed(index) }
        guard !daemon.streams[index].isLookDue else { return }
        daemon.streams[index].isLookDue = true
        queue.add(
            .look(streamID: daemon.streams[index].streamID), at: time + delay(1_000...30_000))
    }

    /// Sends a stream what is durable and new to it, in order, until the network breaks it.
    private func feed(_ index: Int) throws(Violation) {
        var stream = daemon.streams[index]
        let store = devices[stream.address.device].store
        guard let ledger = daemon.ledger, let hub = daemon.hub(store), !stream.isBroken,
            self[stream.address]?.streamID == stream.streamID
        else { return }
        defer { daemon.streams[index] = stream }
        if hub.endsStream(epoch: stream.epoch, since: stream.cursor) {
            queue.add(
                .stream(stream.address, id: stream.streamID, .reset, sent: time),
                at: max(stream.lastDelivery, time))
            stream.isBroken = true
            return
        }
        let page = hub.page(after: stream.cursor, through: ledger.durableSequence(of: store))
        try check(page, after: stream.cursor, of: stream, hub: hub)
        for change in page.changes {
            guard let arrival = arrival(for: stream.address.device, isUp: false) else {
                // The connection breaks in the middle of the stream; nothing after this gets through.
                queue.add(
                    .streamEnded(stream.address, id: stream.streamID),
                    at: max(stream.lastDelivery, time + delay(10...40_000)))
                stream.isBroken = true
                return
            }
            stream.lastDelivery = max(stream.lastDelivery, arrival)
            queue.add(
                .stream(stream.address, id: stream.streamID, .change(change), sent: time),
                at: stream.lastDelivery)
        }
        stream.cursor = page.cursor
    }

    /// No gap, no duplicate, in order: a number is left out only where its key has changed again.
    private func check(
        _ page: Hub.Page, after start: UInt64, of stream: SimulatedDaemon.Stream, hub: Hub
    ) throws(Violation) {
        let facts = facts[hubStore(of: stream)] ?? StoreFacts()
        var last = start
        for change in page.changes {
            guard let seq = change.seq, seq > last else {
                throw violation(
                    "a stream is in order", "\(name(stream.address)) \(last), then \(change)")
            }
            if facts.keyOfSequence[seq] != change.key {
                throw violation(
                    "a stream delivers what happened", "\(name(stream.address)) \(change)")
            }
            if seq > facts.durableSequence {
                throw violation(
                    "a live reader receives only what is durable",
                    "\(name(stream.address)) \(change)")
            }
            last = seq
        }
        let delivered = Set(page.changes.compactMap(\.seq))
        let missing = facts.current(after: start, through: page.cursor).filter {
            !delivered.contains($0)
        }
        if let gap = missing.min() {
            throw violation(
                "a stream has no gap", "\(name(stream.address)) from \(start) without \(gap)")
        }
    }

    private func hubStore(of stream: SimulatedDaemon.Stream) -> StoreID {
        devices[stream.address.device].store
    }
}
