import Foundation

@testable import KVStore

extension ModelWorld {
    /// The same for states that have the same future.
    ///
    /// * The two keys are interchangeable: nothing depends on their names. Of the two namings the
    ///   one with the lesser digest counts. The devices are not: between equal readings their ids
    ///   decide.
    /// * Sequence numbers are only compared, and a new one is greater than all, so they count by
    ///   rank.
    /// * Stamps count as they are: a clock goes on by one, so their distances matter.
    /// * What `carryOut` sets to a constant is left out, and so is the index of the hub, which
    ///   follows from its entries.
    func digest() -> StateDigest {
        var sequences: UInt64 = 1
        visitSequences { sequences |= 1 << $0 }
        return min(digest([0, 1], sequences), digest([1, 0], sequences))
    }

    private func visitSequences(_ visit: (UInt64) -> Void) {
        visit(hub.sequence)
        visit(hub.horizon)
        for entry in hub.entries.values { visit(entry.sequence) }
        for request in strays { visit(request.since) }
        for device in devices {
            visit(device.replica.state.cursor)
            if let disk = device.disk { visit(disk.state.cursor) }
            if let cursor = device.firstCursor { visit(cursor) }
            if let pass = device.replica.session.pass {
                visit(pass.cursor)
                if let horizon = pass.horizon { visit(horizon) }
            }
            switch device.flight {
            case .none: break
            case .request(let request):
                visit(request.since)
                if let horizon = request.horizon { visit(horizon) }
            case .answer(let answer):
                visit(answer.cursor)
                visit(answer.horizon ?? 0)
                for change in answer.changes { visit(change.seq ?? 0) }
                visit(device.replica.session.inFlight?.request.since ?? 0)
            }
            switch device.stream {
            case .none: break
            case .asked(let since, _): visit(since)
            case .open(let place, let queue):
                if place != .max { visit(place) }
                for case .change(let change) in queue { visit(change.seq ?? 0) }
            }
        }
    }

    private func digest(_ order: [Int], _ sequences: UInt64) -> StateDigest {
        var digest = DigestWriter(order: order, sequences: sequences)
        digest.state.mix(
            UInt64(writesLeft) | UInt64(faultsLeft) << 8 | UInt64(crashesLeft) << 16
                | UInt64(forgettingsLeft) << 24)
        digest.sequence(hub.sequence)
        digest.sequence(hub.horizon)
        for key in order {
            let entry = hub.entries[Self.keys[key]]
            digest.sequence(entry?.sequence ?? 0)
            digest.record(entry?.record)
            digest.record(greatest[key])
            if forgettingsLeft != bounds.forgettings {
                digest.stamp(forgotten[key])
                digest.records(buried[key])
            }
        }
        digest.state.mix(UInt64(strays.count))
        for request in strays { digest.request(request) }
        for device in devices { digest.device(device) }
        return digest.state
    }
}

/// Writes a state down word by word, with keys in an order and sequence numbers as ranks.
private struct DigestWriter {
    let order: [Int]
    /// A bit for each sequence number that occurs.
    let sequences: UInt64
    var state = StateDigest()

    mutating func flags(_ flags: Bool...) {
        var word: UInt64 = 0
        for flag in flags { word = word << 1 | (flag ? 1 : 0) }
        state.mix(word)
    }

    mutating func sequence(_ sequence: UInt64) {
        guard sequence != .max else { return state.mix(.max) }
        state.mix(UInt64((sequences & (1 << sequence &- 1)).nonzeroBitCount))
    }

    mutating func stamp(_ stamp: Stamp?) {
        guard let stamp else { return state.mix(.max) }
        state.mix(UInt64(stamp.milliseconds) << 16 | UInt64(stamp.counter))
        state.mix(stamp.replica.rawValue)
    }

    mutating func content(_ content: Record.Content?) {
        switch content {
        case nil: state.mix(0)
        case .tombstone: state.mix(1)
        case .value(let data):
            var word: UInt64 = 2
            for byte in data { word = word &* 257 &+ UInt64(byte) &+ 1 }
            state.mix(word)
        }
    }

    mutating func record(_ record: Record?) {
        stamp(record?.stamp)
        if let record { content(record.content) }
    }

    mutating func records(_ records: [Record]) {
        state.mix(UInt64(records.count))
        for record in records { self.record(record) }
    }

    /// The place of a key in the order, so that a list of changes keeps its own order.
    mutating func key(_ key: String) { state.mix(UInt64(order[ModelWorld.keyIndex(key)])) }

    mutating func change(_ change: SyncChange) {
        key(change.key)
        sequence(change.seq ?? 0)
        // The text as it is: reading it back would take most of the time of a search.
        state.mix(UInt64(bitPattern: Int64(change.stamp.hashValue)))
        content(change.deleted == true ? .tombstone : change.value.map { .value($0) })
    }

    mutating func request(_ request: SyncRequest) {
        flags(request.epoch == nil, request.horizon == nil)
        sequence(request.since)
        sequence(request.horizon ?? 0)
        state.mix(UInt64(request.changes.count))
        for change in request.changes { self.change(change) }
    }

    mutating func replicaState(_ replica: Replica) {
        state.mix(replica.id.rawValue)
        let clock = replica.clock
        for reading in [clock.reading, clock.confirmed, clock.regiven] {
            state.mix(UInt64(reading.milliseconds) << 16 | UInt64(reading.counter))
        }
        state.mix(UInt64(bitPattern: clock.offsetMilliseconds))
        sequence(replica.state.cursor)
        state.mix(UInt64(bitPattern: replica.state.lastSyncMilliseconds ?? -1))
        flags(replica.state.epoch == nil, replica.initialSyncCompleted)
    }

    mutating func device(_ device: ModelWorld.Device) {
        let replica = device.replica
        replicaState(replica)
        if let disk = device.disk { replicaState(disk) }
        for key in order {
            let entry = replica.table[ModelWorld.keys[key]]
            state.mix(UInt64(entry?.mark.rawValue ?? 9))
            record(entry?.record)
            record(device.owed[key])
            content(device.provisional[key])
        }
        if device.provisional.contains(where: { $0 != nil }) {
            sequence(device.firstCursor ?? .max)
        }
        session(replica.session)
        switch device.flight {
        case .none: state.mix(0)
        case .request(let request):
            state.mix(1)
            self.request(request)
        case .answer(let answer):
            state.mix(2)
            self.answer(answer)
        }
        stream(device.stream)
    }

    private mutating func session(_ session: SyncSession) {
        let stream: UInt64 =
            switch session.stream {
            case .closed: 0
            case .opening: 1
            case .open: 2
            }
        state.mix(stream | UInt64(session.clockRefusals) << 8 | UInt64(session.waiters.count) << 16)
        flags(
            session.isAttached, session.needsPass, session.needsRound, session.retryAt != nil,
            session.inFlight?.isOvertaken == true, session.waiters.contains(where: \.isServed),
            session.isBehind)
        // While its answer is under way the request is known only here.
        if let inFlight = session.inFlight { request(inFlight.request) }
        for key in order { stamp(session.blocked[ModelWorld.keys[key]]) }
        guard let pass = session.pass else { return state.mix(0) }
        flags(true, pass.epoch == nil, pass.horizon == nil, pass.isFirst)
        sequence(pass.cursor)
        sequence(pass.horizon ?? 0)
        for key in order {
            record(pass.seen[ModelWorld.keys[key]])
            stamp(pass.candidates[ModelWorld.keys[key]])
        }
    }

    private mutating func answer(_ answer: SyncResponse) {
        sequence(answer.cursor)
        sequence(answer.horizon ?? 0)
        flags(answer.initial, answer.more)
        state.mix(UInt64(answer.changes.count) | UInt64(answer.rejected.count) << 8)
        for change in answer.changes { self.change(change) }
        for rejection in answer.rejected { key(rejection.key) }
    }

    private mutating func stream(_ stream: ModelWorld.Stream) {
        switch stream {
        case .none: state.mix(0)
        case .asked(let since, _):
            state.mix(1)
            sequence(since)
        case .open(let place, let queue):
            state.mix(UInt64(2 + queue.count))
            sequence(place)
            for event in queue {
                switch event {
                case .change(let change): self.change(change)
                case .opened: state.mix(.max - 1)
                case .reset: state.mix(.max - 2)
                case .heartbeat: state.mix(.max - 3)
                }
            }
        }
    }
}
