import Foundation

@testable import KVStoreCore

extension ModelWorld {
    /// Equal for states that have the same future.
    ///
    /// * The two keys are interchangeable: nothing depends on their names. Of the two orders, the one
    ///   with the lesser digest counts. The devices are not: between equal readings their ids decide.
    /// * Sequence numbers are only compared, and a new one is greater than all, so they count by
    ///   rank.
    /// * Stamps count as they are: a clock advances by one, so their distances matter.
    /// * The ids of requests, streams and waiters are left out: what is in flight always has the id that
    ///   its replica awaits, and a new id equals none of them.
    /// * The nodes are interchangeable too: the lesser digest comes first.
    /// * After a failover numbers are assigned again, so with failovers they count as they are.
    /// * What `forgetTiming` resets is left out, and so is the index of the hub, which follows from its
    ///   entries.
    func digest() -> StateDigest {
        var sequences: UInt64 = 1
        visitSequences { sequences |= 1 << $0 }
        if bounds.failovers > 0 { sequences = .max }
        return min(digest([0, 1], sequences), digest([1, 0], sequences))
    }

    private func visitSequences(_ visit: (UInt64) -> Void) {
        func visitRequest(_ request: SyncRequest) {
            visit(request.since?.sequence ?? 0)
            visit(request.horizon ?? 0)
        }
        func visitHub(_ hub: Hub) {
            visit(hub.sequence)
            visit(hub.horizon)
            for entry in hub.entries.values { visit(entry.sequence) }
        }
        func visitNodes() {
            let transactions = lateTransactions + nodes.compactMap(\.transaction)
            let caches = nodes.flatMap { [$0.cache, $0.read] } + transactions.map(\.base)
            for hub in caches.compactMap(\.?.hub) { visitHub(hub) }
            for transaction in transactions {
                for received in transaction.requests { visitRequest(received.request) }
                for entry in transaction.plans.flatMap(\.accepted) { visit(entry.sequence) }
            }
        }
        visitHub(hub)
        for request in strays { visitRequest(request) }
        if !nodes.isEmpty { visitNodes() }
        for device in devices {
            visit(device.replica.state.cursor?.sequence ?? 0)
            if let disk = device.disk { visit(disk.state.cursor?.sequence ?? 0) }
            if let sequence = device.firstSequence { visit(sequence) }
            if let progress = device.replica.session.download?.progress {
                visit(progress.cursor.sequence)
                visit(progress.horizon)
            }
            switch device.flight {
            case .none: break
            case .request(let outgoing): visitRequest(outgoing.request)
            case .received:
                if let exchange = device.replica.session.exchange { visitRequest(exchange.request) }
            case .answer(_, let answer):
                visit(answer.cursor.sequence)
                visit(answer.horizon)
                for change in answer.changes { visit(change.sequence) }
                if let exchange = device.replica.session.exchange { visitRequest(exchange.request) }
            }
            switch device.stream {
            case .none: break
            case .requested(_, let since): visit(since.sequence)
            case .open(_, let position, let queue):
                if let position { visit(position) }
                for case .changes(let changes) in queue {
                    for change in changes { visit(change.sequence) }
                }
            }
        }
    }

    private func digest(_ order: [Int], _ sequences: UInt64) -> StateDigest {
        var digest = DigestWriter(order: order, sequences: sequences)
        digest.state.mix(
            UInt64(writesLeft) | UInt64(faultsLeft) << 8 | UInt64(crashesLeft) << 16 | UInt64(forgettingsLeft) << 24)
        digest.hub(hub)
        for key in order {
            digest.record(greatest[key])
            if forgettingsLeft != bounds.forgettings {
                digest.stamp(forgotten[key])
                digest.records(buried[key])
            }
        }
        digest.state.mix(UInt64(strays.count))
        for request in strays { digest.request(request) }
        for device in devices { digest.device(device) }
        if !nodes.isEmpty { mixNodes(into: &digest) }
        return digest.state
    }

    private func mixNodes(into digest: inout DigestWriter) {
        digest.state.mix(UInt64(nodeFaultsLeft) | UInt64(restartsLeft) << 8 | UInt64(failoversLeft) << 16)
        digest.generations(generations)
        let parts = nodes.enumerated().map { index, node in
            var part = DigestWriter(order: digest.order, sequences: digest.sequences)
            for device in devices {
                part.flags(device.streamNode == index && device.stream.isOpen)
            }
            part.node(node) { awaits($0) }
            return part.state
        }
        for part in parts.sorted() {
            digest.state.mix(part.low)
            digest.state.mix(part.high)
        }
        digest.state.mix(UInt64(lateTransactions.count))
        for transaction in lateTransactions { digest.transaction(transaction) { _ in false } }
        guard bounds.failovers > 0 else { return }
        digest.state.mix(lastGeneration)
        digest.state.mix(lastEpoch)
        digest.sequence(lastAssigned[hub.end.epoch] ?? 0)
        for key in digest.order { digest.record(due[key]) }
        digest.flags(standby != nil)
        guard let standby else { return }
        digest.hub(standby.hub)
        digest.generations(standby.generations)
        for key in digest.order {
            digest.stamp(standby.forgotten[key])
            digest.records(standby.buried[key])
        }
    }

    private func awaits(_ received: ModelNode.Received) -> Bool {
        received.device.map { devices[$0].flight == .received(id: received.id) } ?? false
    }
}

/// Writes a state number by number, with keys in an order and sequence numbers as ranks.
private struct DigestWriter {
    let order: [Int]
    /// A bit for each sequence number that occurs.
    let sequences: UInt64
    var state = StateDigest()

    mutating func flags(_ flags: Bool...) {
        var bits: UInt64 = 0
        for flag in flags { bits = bits << 1 | (flag ? 1 : 0) }
        state.mix(bits)
    }

    mutating func sequence(_ sequence: UInt64) {
        state.mix(UInt64((sequences & (1 << sequence &- 1)).nonzeroBitCount))
    }

    mutating func cursor(_ cursor: SyncCursor?) {
        state.mix(cursor?.epoch.rawValue ?? 0)
        sequence(cursor?.sequence ?? 0)
    }

    mutating func stamp(_ stamp: StoreStamp?) {
        guard let stamp else { return state.mix(.max) }
        state.mix(UInt64(stamp.milliseconds) << 16 | UInt64(stamp.counter))
        state.mix(stamp.replica.rawValue)
    }

    mutating func content(_ content: StoreRecord.Content?) {
        switch content {
        case nil: state.mix(0)
        case .tombstone: state.mix(1)
        case .value(let data):
            var number: UInt64 = 2
            for byte in data { number = number &* 257 &+ UInt64(byte) &+ 1 }
            state.mix(number)
        }
    }

    mutating func record(_ record: StoreRecord?) {
        stamp(record?.stamp)
        if let record { content(record.content) }
    }

    mutating func records(_ records: [StoreRecord]) {
        state.mix(UInt64(records.count))
        for record in records { self.record(record) }
    }

    /// The position of a key in the order, so that a list of changes keeps its own order.
    mutating func key(_ key: StoreKey) { state.mix(UInt64(order[ModelWorld.keyIndex(key)])) }

    mutating func change(_ change: SequencedRecord) {
        key(change.record.key)
        sequence(change.sequence)
        record(change.record)
    }

    mutating func request(_ request: SyncRequest) {
        cursor(request.since)
        state.mix(request.horizon == nil ? 1 : 0)
        sequence(request.horizon ?? 0)
        state.mix(UInt64(request.changes.count))
        for change in request.changes {
            key(change.key)
            record(change)
        }
    }

    mutating func replicaState(_ replica: Replica) {
        state.mix(replica.id.rawValue)
        let clock = replica.clock
        for reading in [clock.reading, clock.confirmed, clock.reissued] {
            state.mix(UInt64(reading.milliseconds) << 16 | UInt64(reading.counter))
        }
        state.mix(UInt64(bitPattern: clock.offsetMilliseconds))
        cursor(replica.state.cursor)
        state.mix(UInt64(bitPattern: replica.state.lastSyncMilliseconds ?? -1))
        flags(replica.state.initialSyncCompleted, replica.state.partialDownload != nil)
    }

    mutating func device(_ device: ModelDevice) {
        let replica = device.replica
        replicaState(replica)
        if let disk = device.disk { replicaState(disk) }
        for key in order {
            let entry = replica.table[ModelWorld.keys[key]]
            state.mix(UInt64(entry?.status.rawValue ?? 9))
            record(entry?.record)
            record(device.owed[key])
            content(device.provisional[key])
        }
        if device.provisional.contains(where: { $0 != nil }) {
            state.mix(device.firstSequence == nil ? 1 : 0)
            sequence(device.firstSequence ?? 0)
        }
        session(replica.session)
        switch device.flight {
        case .none: state.mix(0)
        case .request(let outgoing):
            state.mix(1)
            request(outgoing.request)
        case .answer(_, let answer):
            state.mix(2)
            self.answer(answer)
        case .received: state.mix(3)
        }
        stream(device.stream)
    }

    mutating func hub(_ hub: Hub) {
        cursor(hub.end)
        sequence(hub.horizon)
        for key in order {
            let entry = hub.entries[ModelWorld.keys[key]]
            sequence(entry?.sequence ?? 0)
            record(entry?.record)
        }
    }

    mutating func generations(_ generations: ModelGenerations) {
        state.mix(generations.database)
        state.mix(generations.store)
        flags(generations.isPromoted)
    }

    private mutating func cache(_ cache: ModelNode.Cache?) {
        state.mix(cache?.generation ?? 0)
        if let cache { hub(cache.hub) }
    }

    mutating func node(_ node: ModelNode, isAwaited: (ModelNode.Received) -> Bool) {
        cache(node.cache)
        cache(node.read)
        flags(node.transaction != nil, node.isCommitted)
        if let transaction = node.transaction { self.transaction(transaction, isAwaited) }
    }

    mutating func transaction(_ transaction: ModelNode.Transaction, _ isAwaited: (ModelNode.Received) -> Bool) {
        cache(transaction.base)
        for (received, plan) in zip(transaction.requests, transaction.plans) {
            state.mix(isAwaited(received) ? UInt64(received.device ?? 8) : 9)
            request(received.request)
            state.mix(UInt64(plan.accepted.count))
            for entry in plan.accepted { change(entry) }
            state.mix(UInt64(plan.superseded.count))
            for key in plan.superseded { self.key(key) }
            state.mix(UInt64(plan.rejections.count))
        }
    }

    private mutating func session(_ session: SyncSession) {
        switch session.phase {
        case .detached: state.mix(0)
        case .idle: state.mix(1)
        case .exchanging(let exchange):
            state.mix(2)
            flags(exchange.isOvertaken, exchange.backOffUntil != nil)
            // While its answer is in flight the request is known only here.
            request(exchange.request)
        case .backingOff: state.mix(3)
        }
        switch session.stream {
        case .closed: state.mix(0)
        case .opening(_, let epoch): state.mix(1 ^ epoch.rawValue << 8)
        case .open(_, let epoch): state.mix(2 ^ epoch.rawValue << 8)
        case .interrupted: state.mix(3)
        }
        state.mix(UInt64(session.failures.fruitlessCount) | UInt64(session.waiters.count) << 8)
        flags(session.isPullDue, session.waiters.contains(where: \.isServed))
        for key in order { stamp(session.blocked[ModelWorld.keys[key]]) }
        switch session.transfer {
        case .incremental(let isBehind): state.mix(isBehind ? 1 : 0)
        case .downloadDue: state.mix(2)
        case .download(let download):
            state.mix(3)
            flags(download.isFirst, download.abandoned != nil, download.progress != nil)
            cursor(download.progress?.cursor)
            sequence(download.progress?.horizon ?? 0)
            for key in order {
                record(download.seen[ModelWorld.keys[key]])
                stamp(download.candidates[ModelWorld.keys[key]])
            }
        }
    }

    private mutating func answer(_ answer: SyncResponse) {
        cursor(answer.cursor)
        sequence(answer.horizon)
        flags(answer.isInitial, answer.hasMore)
        state.mix(UInt64(answer.changes.count) | UInt64(answer.rejections.count) << 8)
        for change in answer.changes { self.change(change) }
        for rejection in answer.rejections { key(rejection.key) }
        for end in answer.lineage { cursor(end) }
    }

    private mutating func stream(_ stream: ModelDevice.Stream) {
        switch stream {
        case .none: state.mix(0)
        case .requested(_, let since):
            state.mix(1)
            cursor(since)
        case .open(_, let position, let queue):
            state.mix(UInt64(2 + queue.count))
            state.mix(position == nil ? 1 : 0)
            sequence(position ?? 0)
            for event in queue {
                switch event {
                case .changes(let changes): for change in changes { self.change(change) }
                case .opened: state.mix(.max - 1)
                case .reset: state.mix(.max - 2)
                case .heartbeat: state.mix(.max - 3)
                }
            }
        }
    }
}
