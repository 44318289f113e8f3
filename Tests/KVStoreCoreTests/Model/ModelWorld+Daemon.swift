@testable import KVStoreCore

extension ModelWorld {
    /// The daemon handles a request. Every promise about its answer is checked here.
    mutating func receive(_ request: SyncRequest) throws -> SyncResponse {
        let plan = hub.plan(request.changes, now: Self.daemonTime)
        try commit(plan, of: request)
        let answer = hub.answer(request, plan: plan, now: Self.daemonTime)
        try check(answer, to: request, by: hub)
        return answer
    }

    /// What a request changes becomes durable.
    mutating func commit(_ plan: Hub.Plan, of request: SyncRequest) throws {
        let before = hub
        for entry in plan.accepted {
            let epoch = hub.end.epoch
            guard entry.sequence > max(lastAssigned[epoch] ?? 0, hub.sequence) else {
                throw ModelViolation(
                    promise: "a sequence number is assigned once in an epoch, ascending",
                    detail: "\(entry.sequence) to \(entry.record.stamp)")
            }
            lastAssigned[epoch] = entry.sequence
        }
        hub.commit(plan)
        try judge(request, plan: plan, before: before)
        for key in 0..<2 where hub.entries[Self.keys[key]]?.record != greatest[key] {
            throw ModelViolation(
                promise: "the daemon holds the greatest record that it ever accepted",
                detail: "\(Self.keys[key]) \(stamp(hub.entries[Self.keys[key]]?.record)), "
                    + "not \(stamp(greatest[key]))")
        }
        guard hub.plan(request.changes, now: Self.daemonTime).accepted.isEmpty else {
            throw ModelViolation(promise: "a repeated request changes nothing", detail: "")
        }
        for index in devices.indices { settleGhosts(index) }
    }

    private mutating func judge(_ request: SyncRequest, plan: Hub.Plan, before: Hub) throws {
        let limit = Self.daemonTime + 60_000
        var expected: [SyncRejection] = []
        for record in request.changes {
            let key = Self.keyIndex(record.key)
            if record.stamp.milliseconds > limit {
                let present = before.entries[record.key]?.record.stamp
                expected.append(SyncRejection(record, .clock(limit: limit, present: present)))
                continue
            }
            if let present = greatest[key], present.stamp == record.stamp, present != record {
                throw ModelViolation(promise: "no stamp is issued twice", detail: "\(record.stamp)")
            }
            if let present = greatest[key], !Self.isGreater(record, present) { continue }
            greatest[key] = record
            if buried[key].contains(record) {
                throw ModelViolation(promise: "no deleted key returns", detail: "\(record.key) \(record.stamp)")
            }
            if let present = before.entries[record.key], !present.record.content.isTombstone {
                try checkProvisional(record, replaces: present)
            }
        }
        guard plan.rejections == expected else {
            throw ModelViolation(
                promise: "exactly the stamps too far in the future are rejected",
                detail: "\(plan.rejections), not \(expected)")
        }
    }

    /// A default may replace only what reached the daemon after the first download.
    private func checkProvisional(_ record: StoreRecord, replaces present: SequencedRecord) throws {
        let key = Self.keyIndex(record.key)
        for device in devices
        where device.provisional[key] == record.content && device.replica.id == record.stamp.replica {
            if present.sequence <= device.firstSequence ?? .max {
                throw ModelViolation(
                    promise: "a provisional write never replaces a value of the daemon",
                    detail: "d\(device.number) \(record.key) over \(present.record.stamp)")
            }
        }
    }

    /// The answer contains every change after the cursor except the request's own, and the winners
    /// over its superseded changes.
    func check(_ answer: SyncResponse, to request: SyncRequest, by hub: Hub) throws {
        let isKnown =
            request.since.map {
                $0.epoch == hub.end.epoch && $0.sequence <= hub.sequence && $0.sequence >= hub.horizon
            } ?? false
        let since = isKnown ? request.since?.sequence ?? 0 : 0
        var expected: [SequencedRecord] = []
        for entry in hub.entries.values {
            let sent = request.changes.first { $0.key == entry.record.key }
            let isTheirs = sent == entry.record
            let isRejected = answer.rejections.contains { $0.key == entry.record.key }
            if entry.sequence > since ? !isTheirs : sent != nil && !isTheirs && !isRejected {
                expected.append(entry)
            }
        }
        guard
            answer.changes.sorted(by: { $0.sequence < $1.sequence })
                == expected.sorted(by: { $0.sequence < $1.sequence }),
            answer.cursor == hub.end, answer.isInitial == !isKnown, !answer.hasMore
        else {
            throw ModelViolation(
                promise: "an answer is what the protocol says", detail: "\(answer) to \(request), expected \(expected)")
        }
    }

    mutating func forget(_ key: Int) throws {
        guard let removal = hub.entries[Self.keys[key]]?.record else { return }
        forgettingsLeft -= 1
        hub.forget(Self.keys[key])
        if nodes.isEmpty { try resetStreams(of: 0, from: hub, to: hub) }
        greatest[key] = nil
        forgotten[key] = max(forgotten[key] ?? removal.stamp, removal.stamp)
        // A device that has not heard of a failover yet may have to send what it holds again.
        let entries = devices.filter { isInPresentEpoch($0) }.compactMap { $0.replica.table[Self.keys[key]] }
        let sendable = entries.filter { $0.status != .acknowledged }.map(\.record) + inFlight(key)
        buried[key] += entries.filter {
            $0.status == .acknowledged && !$0.record.content.isTombstone
        }
        .map(\.record).filter { !sendable.contains($0) && !buried[key].contains($0) }
    }

    /// Records of a key in requests that may still arrive.
    private func inFlight(_ key: Int) -> [StoreRecord] {
        var requests = strays
        for device in devices {
            if case .request(let outgoing) = device.flight { requests.append(outgoing.request) }
        }
        for transaction in lateTransactions + nodes.compactMap(\.transaction) {
            requests += transaction.requests.map(\.request)
        }
        return requests.flatMap(\.changes).filter { $0.key == Self.keys[key] }
    }

    // MARK: - Streams

    mutating func openStream(_ index: Int) throws {
        guard case .requested(let id, let since) = devices[index].stream else { return }
        if servedHub(index)?.endsStream(at: since) ?? true {
            try checkReset(index, at: since)
            devices[index].stream = .open(id: id, position: nil, queue: [.reset])
        } else {
            devices[index].stream = .open(id: id, position: since.sequence, queue: [.opened])
        }
    }

    /// Ends the streams that cannot continue when what they are served from changes.
    mutating func resetStreams(of node: Int, from former: Hub, to hub: Hub) throws {
        for index in devices.indices where devices[index].streamNode == node {
            guard case .open(let id, let position?, let queue) = devices[index].stream else {
                continue
            }
            let cursor = SyncCursor(epoch: former.end.epoch, sequence: position)
            guard hub.endsStream(at: cursor) else { continue }
            try checkReset(index, at: cursor)
            devices[index].stream = .open(id: id, position: nil, queue: queue + [.reset])
        }
    }

    private func checkReset(_ index: Int, at cursor: SyncCursor) throws {
        guard generations.areEqual, !hub.endsStream(at: cursor) else { return }
        throw ModelViolation(promise: "a stream is reset only if it cannot continue", detail: "d\(index) at \(cursor)")
    }

    mutating func feedStream(_ index: Int) {
        guard case .open(let id, let position, let queue) = devices[index].stream,
            let change = nextChange(for: index, after: position)
        else { return }
        devices[index].stream = .open(id: id, position: change.sequence, queue: queue + [.change(change)])
    }

    func nextChange(for index: Int, after position: UInt64?) -> SequencedRecord? {
        guard let position, let hub = servedHub(index) else { return nil }
        return hub.page(after: position, through: hub.sequence).changes.first
    }

    /// What the device's stream is served from.
    private func servedHub(_ index: Int) -> Hub? {
        nodes.isEmpty ? hub : nodes[devices[index].streamNode].cache?.hub
    }

    func stamp(_ record: StoreRecord?) -> String { record?.stamp.description ?? "nothing" }
}
