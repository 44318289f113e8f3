@testable import KVStore

extension ModelWorld {
    /// The daemon takes a request in. Every promise about its answer is checked here.
    mutating func receive(_ request: SyncRequest) throws -> SyncResponse {
        let before = hub
        let plan = hub.plan(request.changes, now: Self.daemonTime)
        hub.commit(plan)
        try judge(request, plan: plan, before: before)
        for key in 0..<2 where hub.entries[Self.keys[key]]?.record != greatest[key] {
            throw ModelViolation(
                promise: "the daemon holds the greatest record that it ever took",
                detail: "\(Self.keys[key]) \(stamp(hub.entries[Self.keys[key]]?.record)), "
                    + "not \(stamp(greatest[key]))")
        }
        guard hub.plan(request.changes, now: Self.daemonTime).accepted.isEmpty else {
            throw ModelViolation(promise: "a repeated request changes nothing", detail: "")
        }
        let answer = hub.answer(request, plan: plan, now: Self.daemonTime)
        try check(answer, to: request)
        for index in devices.indices { settleGhosts(index) }
        return answer
    }

    private mutating func judge(_ request: SyncRequest, plan: Hub.Plan, before: Hub) throws {
        var refused: [String] = []
        for change in request.changes {
            guard let record = change.record else { continue }
            if record.stamp.milliseconds > Self.daemonTime + 60_000 {
                refused.append(change.key)
                continue
            }
            let key = Self.keyIndex(record.key)
            if let present = greatest[key], present.stamp == record.stamp, present != record {
                throw ModelViolation(
                    promise: "no stamp is given out twice", detail: "\(record.stamp)")
            }
            if let present = greatest[key], !Self.isGreater(record, present) { continue }
            greatest[key] = record
            if buried[key].contains(record) {
                throw ModelViolation(
                    promise: "no deleted key returns", detail: "\(record.key) \(record.stamp)")
            }
            if let there = before.entries[record.key], !there.record.content.isTombstone {
                try checkProvisional(record, replaces: there)
            }
        }
        guard plan.rejected.map(\.key) == refused,
            plan.rejected.allSatisfy({ $0.reason == "clock" })
        else {
            throw ModelViolation(
                promise: "exactly stamps too far in the future are refused",
                detail: "\(plan.rejected.map(\.key)), not \(refused)")
        }
    }

    /// A default may take the place only of what came to the daemon after the first download.
    private func checkProvisional(_ record: Record, replaces there: Hub.Entry) throws {
        let key = Self.keyIndex(record.key)
        for (index, device) in devices.enumerated()
        where device.provisional[key] == record.content
            && device.replica.id == record.stamp.replica
        {
            if there.sequence <= device.firstCursor ?? .max {
                throw ModelViolation(
                    promise: "a provisional write never replaces a value of the daemon",
                    detail: "d\(index) \(record.key) over \(there.record.stamp)")
            }
        }
    }

    /// The answer brings every change after the cursor but the request's own, and the winners
    /// over what was sent in vain.
    private func check(_ answer: SyncResponse, to request: SyncRequest) throws {
        let isKnown =
            request.epoch == hub.epoch && request.since <= hub.sequence
            && request.since >= hub.horizon
        let since = isKnown ? request.since : 0
        var expected: [SyncChange] = []
        for entry in hub.entries.values {
            let sent = request.changes.first { $0.key == entry.record.key }
            let isTheirs = sent?.record == entry.record
            let isRefused = answer.rejected.contains { $0.key == entry.record.key }
            if entry.sequence > since ? !isTheirs : sent != nil && !isTheirs && !isRefused {
                expected.append(SyncChange(entry.record, seq: entry.sequence))
            }
        }
        let told = answer.changes.sorted { $0.seq ?? 0 < $1.seq ?? 0 }
        guard told == expected.sorted(by: { $0.seq ?? 0 < $1.seq ?? 0 }),
            answer.cursor == hub.sequence, answer.initial == !isKnown, !answer.more,
            answer.epoch == hub.epoch
        else {
            throw ModelViolation(
                promise: "an answer is what the protocol says",
                detail: "\(answer) to \(request), expected \(expected)")
        }
    }

    mutating func forget(_ key: Int) {
        guard let removal = hub.entries[Self.keys[key]]?.record else { return }
        forgettingsLeft -= 1
        hub.forget(Self.keys[key])
        greatest[key] = nil
        forgotten[key] = max(forgotten[key] ?? removal.stamp, removal.stamp)
        let entries = devices.compactMap { $0.replica.table[Self.keys[key]] }
        let sendable = entries.filter { $0.mark != .settled }.map(\.record) + underWay(key)
        buried[key] += entries.filter { $0.mark == .settled && !$0.record.content.isTombstone }
            .map(\.record).filter { !sendable.contains($0) && !buried[key].contains($0) }
    }

    /// Records of a key in requests that may still arrive.
    private func underWay(_ key: Int) -> [Record] {
        var requests = strays
        for device in devices {
            if case .request(let request) = device.flight { requests.append(request) }
        }
        return requests.flatMap(\.changes).filter { $0.key == Self.keys[key] }
            .compactMap(\.record)
    }

    // MARK: - Streams

    mutating func openStream(_ index: Int) {
        guard case .asked(let since, let epoch) = devices[index].stream else { return }
        let isReset = hub.startsOver(epoch: epoch, since: since)
        devices[index].stream =
            isReset
            ? .open(place: .max, queue: [.reset]) : .open(place: since, queue: [.opened])
    }

    mutating func tellStream(_ index: Int) {
        guard case .open(let place, let queue) = devices[index].stream,
            let change = nextChange(after: place)
        else { return }
        devices[index].stream = .open(
            place: change.seq ?? place, queue: queue + [.change(change)])
    }

    func nextChange(after place: UInt64) -> SyncChange? {
        place == .max ? nil : hub.page(after: place, through: hub.sequence).changes.first
    }

    func stamp(_ record: Record?) -> String { record?.stamp.description ?? "nothing" }
}
