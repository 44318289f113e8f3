import Foundation

@testable import KVStoreCore

extension ModelWorld {
    mutating func attach(_ index: Int) throws {
        try deliver(.attached(isLive: bounds.isLive[index]), to: index)
    }

    /// Has a replica handle an event and executes the result.
    mutating func deliver(_ event: Event, to index: Int) throws {
        try execute(devices[index].replica.handle(event, at: now(index)), by: index)
    }

    /// Has a device act, and checks what it notifies against what it changed.
    mutating func act(_ step: DeviceStep, by index: Int) throws {
        let before = devices[index].contents
        let wasFirstDone = devices[index].replica.state.initialSyncCompleted
        let answer: SyncResponse? = if case .answer(_, let answer) = devices[index].flight { answer } else { nil }
        let ready = perform(step, by: index)
        try checkNotifications(ready.notifications, after: step, before: before, by: index)
        if !wasFirstDone, devices[index].replica.state.initialSyncCompleted {
            try checkFirstDownload(answer, by: index)
        }
        try execute(ready, by: index)
    }

    /// Has the replica decide; the result is still to be executed.
    private mutating func perform(_ step: DeviceStep, by index: Int) -> Ready {
        let now = now(index)
        switch step {
        case .write(let key, let removes):
            writesLeft -= 1
            let content = removes ? StoreRecord.Content.tombstone : newContent(index)
            let wasFirstDone = devices[index].replica.state.initialSyncCompleted
            let (ready, _) = devices[index].replica.write([Self.keys[key]: content], at: now)
            devices[index].provisional[key] = wasFirstDone || ready == Ready() ? nil : content
            return ready
        case .answerArrives:
            guard case .answer(let id, let answer) = devices[index].flight else { return Ready() }
            devices[index].flight = .none
            return devices[index].replica.handle(.answered(id: id, .success(answer)), at: now)
        case .poll: return devices[index].replica.synchronize(at: now).ready
        case .wake: return devices[index].replica.handle(.woke, at: now)
        case .eventArrives:
            guard case .open(let id, let position, var queue) = devices[index].stream else {
                return Ready()
            }
            let event = queue.removeFirst()
            devices[index].stream = .open(id: id, position: position, queue: queue)
            return devices[index].replica.handle(.stream(id: id, event), at: now)
        }
    }

    /// A value that no other write of the world has, unless the bounds want equal ones. It is
    /// named after the clock reading, so that histories that differ in nothing else meet.
    private func newContent(_ index: Int) -> StoreRecord.Content {
        guard !bounds.writesEqualValues else { return .value(Data([7])) }
        let replica = devices[index].replica
        var clock = replica.clock
        let stamp = clock.next(now: now(index).wall, replica: replica.id)
        let isAhead: UInt8 = stamp.milliseconds == Self.daemonTime ? 0 : 1
        let name = [UInt8(index + 1), isAhead, UInt8(truncatingIfNeeded: stamp.counter)]
        // Lengths differ for the sake of the counters.
        return .value(Data(name + Array(repeating: 0, count: Int(stamp.counter % 3))))
    }

    private mutating func execute(_ ready: Ready, by index: Int) throws {
        try devices[index].execute(ready)
        devices[index].forgetTiming()
        settleGhosts(index)
    }

    /// Forgets ghosts that no longer constrain anything, so that equal futures are equal states.
    mutating func settleGhosts(_ index: Int) {
        for key in 0..<2 {
            if failoversLeft < bounds.failovers { markDue(key, of: index) }
            if let owed = devices[index].owed[key], isSettled(owed) {
                devices[index].owed[key] = nil
            }
            if let record = due[key], isSettled(record) { due[key] = nil }
            guard let content = devices[index].provisional[key], strays.isEmpty else { continue }
            switch devices[index].flight {
            case .request, .received: continue
            case .none, .answer: break
            }
            if devices[index].replica.table[Self.keys[key]]?.record.content != content {
                devices[index].provisional[key] = nil
            }
        }
    }

    /// What a replica holds after a failover, also from an answer or a stream of the former database, comes back.
    private mutating func markDue(_ key: Int, of index: Int) {
        guard let entry = devices[index].replica.table[Self.keys[key]],
            entry.status != .provisional, !buried[key].contains(entry.record)
        else { return }
        if entry.status == .acknowledged, let owed = devices[index].owed[key], !Self.isGreater(owed, entry.record) {
            devices[index].owed[key] = nil
        }
        if !isSettled(entry.record), due[key].map({ Self.isGreater(entry.record, $0) }) ?? true {
            due[key] = entry.record
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
