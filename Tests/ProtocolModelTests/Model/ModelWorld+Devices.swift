import Foundation

@testable import KVStore

extension ModelWorld {
    mutating func attach(_ index: Int) throws {
        let effects = devices[index].replica.handle(
            .attached(isLive: bounds.isLive[index]), at: now(index))
        try carryOut(effects, by: index)
    }

    /// Lets a device act, and checks what it says against what it did.
    mutating func act(_ step: DeviceStep, by index: Int) throws {
        let before = contents(index)
        let wasFirstDone = devices[index].replica.initialSyncCompleted
        let answer: SyncResponse? =
            if case .answer(let answer) = devices[index].flight { answer } else { nil }
        let effects = perform(step, by: index)
        try checkNotifications(effects, after: step, before: before, by: index)
        if !wasFirstDone, devices[index].replica.initialSyncCompleted {
            try checkFirstDownload(answer, by: index)
        }
        try carryOut(effects, by: index)
    }

    /// Has the replica decide; its effects are still to be carried out.
    mutating func perform(_ step: DeviceStep, by index: Int) -> [Effect] {
        switch step {
        case .write(let key, let removes):
            writesLeft -= 1
            let content = removes ? Record.Content.tombstone : newContent(index)
            let wasFirstDone = devices[index].replica.initialSyncCompleted
            let (effects, _) = devices[index].replica.write(
                content, forKey: Self.keys[key], at: now(index))
            devices[index].provisional[key] = wasFirstDone || effects.isEmpty ? nil : content
            return effects
        case .answerArrives:
            guard case .answer(let answer) = devices[index].flight else { return [] }
            devices[index].flight = .none
            return devices[index].replica.handle(.answered(answer), at: now(index))
        case .poll: return devices[index].replica.handle(.synchronize(waiter: 0), at: now(index))
        case .wake: return devices[index].replica.handle(.woke, at: now(index))
        case .streamIsHeard:
            guard case .open(let place, var queue) = devices[index].stream else { return [] }
            let event = queue.removeFirst()
            devices[index].stream = .open(place: place, queue: queue)
            return devices[index].replica.handle(.stream(event), at: now(index))
        }
    }

    /// A value that no other write of the world has, unless the bounds want equal ones. It is
    /// named after the clock reading, so that courses of events which differ in nothing else
    /// meet.
    private func newContent(_ index: Int) -> Record.Content {
        guard !bounds.writesEqualValues else { return .value(Data([7])) }
        let replica = devices[index].replica
        var clock = replica.clock
        let stamp = clock.next(now: now(index).wall, replica: replica.id)
        let isAhead: UInt8 = stamp.milliseconds == Self.daemonTime ? 0 : 1
        let name = [UInt8(index + 1), isAhead, UInt8(truncatingIfNeeded: stamp.counter)]
        // Lengths differ, for the sake of the counters.
        return .value(Data(name + Array(repeating: 0, count: Int(stamp.counter % 3))))
    }

    mutating func carryOut(_ effects: [Effect], by index: Int) throws {
        for effect in effects {
            switch effect {
            case .append(let entry): try append(entry, by: index)
            case .send(let request): try send(request, by: index)
            case .openStream(let since, let epoch):
                guard devices[index].stream == .none else {
                    throw ModelViolation(promise: "one stream at a time", detail: "d\(index)")
                }
                devices[index].stream = .asked(since: since, epoch: epoch)
            case .closeStream: devices[index].stream = .none
            case .notify, .wake, .finish: break
            }
        }
        forgetWhatOnlyTimingNeeds(index)
        settleGhosts(index)
    }

    mutating func append(_ entry: ReplicaEntry, by index: Int) throws {
        _ = devices[index].disk?.replay(entry)
        let kept = devices[index].disk ?? devices[index].replica
        // What the first download left is owed when the download is known to be complete.
        guard kept.initialSyncCompleted else { return }
        if case .state = entry {
            for (key, name) in Self.keys.enumerated() {
                if let entry = kept.table[name], entry.mark == .pending {
                    devices[index].owed[key] = entry.record
                }
            }
        }
        guard case .record(let record, isPending: true, isProvisional: false) = entry else {
            return
        }
        let key = Self.keyIndex(record.key)
        if let former = devices[index].owed[key], !Self.isGreater(record, former),
            record.content != former.content
        {
            throw ModelViolation(
                promise: "a device's later write of a key has the greater stamp",
                detail: "d\(index) \(record.key) \(record.stamp) after \(former.stamp)")
        }
        devices[index].owed[key] = record
    }

    private mutating func send(_ request: SyncRequest, by index: Int) throws {
        guard devices[index].flight == .none else {
            throw ModelViolation(promise: "one request at a time", detail: "d\(index)")
        }
        let kept = devices[index].disk ?? devices[index].replica
        if !kept.initialSyncCompleted, !request.changes.isEmpty {
            throw ModelViolation(
                promise: "nothing is sent before the first download is complete",
                detail: "d\(index)")
        }
        for change in request.changes {
            guard let entry = kept.table[change.key], entry.mark == .pending,
                change.record == entry.record
            else {
                throw ModelViolation(
                    promise: "what is sent is in the log, pending and as it was written",
                    detail: "d\(index) \(change.key) \(change.stamp)")
            }
        }
        devices[index].flight = .request(request)
    }

    /// Waits, their random part and the report's counts have no influence on what is decided, so
    /// states that differ in them alone are one state. A new id follows from the present one.
    private mutating func forgetWhatOnlyTimingNeeds(_ index: Int) {
        let id = devices[index].replica.id.rawValue
        devices[index].replica.random = SplitMix64(seed: id)
        devices[index].replica.session.backoff = Backoff()
        devices[index].replica.session.lastFailure = nil
        devices[index].replica.session.counts = SyncSession.Counts()
        if devices[index].replica.session.retryAt != nil {
            devices[index].replica.session.retryAt = 0
        }
    }

    // MARK: - Crashes

    /// The program is killed; the next one knows what the log holds.
    mutating func restart(_ index: Int) throws {
        guard let disk = devices[index].disk else { return }
        crashesLeft -= 1
        devices[index].replica = disk
        devices[index].flight = .none
        devices[index].stream = .none
        if crashesLeft == 0 {
            for index in devices.indices { devices[index].disk = nil }
        }
        try attach(index)
    }
}
