@testable import KVStore

extension ModelWorld {
    /// By key, what an app sees on a device.
    func contents(_ index: Int) -> [Record.Content?] {
        Self.keys.map { devices[index].replica.table.content(forKey: $0) }
    }

    // MARK: - Steps

    /// What is told is what has changed, so an app that looks only at its own writes and at what
    /// it is told knows what it would read.
    func checkNotifications(
        _ effects: [Effect], after step: DeviceStep, before: [Record.Content?], by index: Int
    ) throws {
        let after = contents(index)
        var expected = Self.keys.indices.filter { before[$0] != after[$0] }.map { Self.keys[$0] }
        if case .write(let key, _) = step { expected.removeAll { $0 == Self.keys[key] } }
        var told: [String] = []
        for case .notify(let change) in effects { told += change.keys }
        guard told.sorted() == expected else {
            throw ModelViolation(
                promise: "notifications equal the visible changes",
                detail: "d\(index) was told of \(told.sorted()), changed were \(expected)")
        }
    }

    /// Now the device has everything that the daemon had, whatever it had written before.
    mutating func checkFirstDownload(_ answer: SyncResponse?, by index: Int) throws {
        devices[index].firstCursor = answer?.cursor
        for change in answer?.changes ?? [] where change.value != nil {
            guard let entry = devices[index].replica.table[change.key],
                SyncChange(entry.record, seq: change.seq) == change, entry.mark == .settled
            else {
                throw ModelViolation(
                    promise: "the first download gives what the daemon has",
                    detail: "d\(index) \(change.key)")
            }
        }
    }

    /// Drops ghosts that say nothing any more, so that equal futures are equal states.
    mutating func settleGhosts(_ index: Int) {
        for key in 0..<2 {
            if let owed = devices[index].owed[key] {
                let isHeld = greatest[key].map { !Self.isGreater(owed, $0) } ?? false
                // A removal that was greater has won, also where it is forgotten meanwhile.
                let isRemoved = forgotten[key].map { owed.stamp < $0 } ?? false
                if isHeld || isRemoved { devices[index].owed[key] = nil }
            }
            guard let content = devices[index].provisional[key], strays.isEmpty else { continue }
            if case .request = devices[index].flight { continue }
            if devices[index].replica.table[Self.keys[key]]?.record.content != content {
                devices[index].provisional[key] = nil
            }
        }
    }

    // MARK: - States

    /// What must hold at every moment.
    func check() throws {
        for index in devices.indices {
            try checkCounters(index)
            for key in 0..<2 { try checkEntry(key, of: index) }
            try checkDisk(index)
        }
        let values = hub.entries.values.filter { !$0.record.content.isTombstone }
        guard hub.keyCount == values.count,
            hub.byteCount == values.reduce(0, { $0 + $1.record.content.byteCount })
        else { throw ModelViolation(promise: "counters equal a recount", detail: "daemon") }
    }

    private func checkCounters(_ index: Int) throws {
        let replica = devices[index].replica
        var (byteCount, keyCount) = (0, 0)
        var pending: Set<String> = []
        for (key, entry) in replica.table.entries {
            if case .value(let data) = entry.record.content {
                byteCount += data.count
                keyCount += 1
            }
            if entry.mark != .settled { pending.insert(key) }
        }
        guard replica.usedByteCount == byteCount, replica.usedKeyCount == keyCount,
            replica.pendingKeys == pending
        else { throw ModelViolation(promise: "counters equal a recount", detail: "d\(index)") }
    }

    private func checkEntry(_ key: Int, of index: Int) throws {
        let device = devices[index]
        let name = Self.keys[key]
        let entry = device.replica.table[name]
        if let owed = device.owed[key] {
            guard let entry, entry.mark == .pending, entry.record == owed else {
                throw ModelViolation(
                    promise: "a write stays pending until the daemon has it or a greater one",
                    detail: "d\(index) \(name) \(owed.stamp), there is \(stamp(entry?.record))")
            }
        }
        if let entry, entry.mark == .settled {
            let isHeld = greatest[key].map { !Self.isGreater(entry.record, $0) } ?? false
            let isForgotten = forgotten[key].map { entry.record.stamp <= $0 } ?? false
            guard isHeld || isForgotten else {
                throw ModelViolation(
                    promise: "what a device holds for acknowledged is not lost",
                    detail: "d\(index) \(name) \(entry.record.stamp)")
            }
        }
        if let held = hub.entries[name], held.sequence <= device.replica.state.cursor {
            let knows = entry.map { !Self.isGreater(held.record, $0.record) } ?? false
            // A write whose stamp was refused may be stamped again below what came with the
            // refusal. It is sent, and the answer brings the winner.
            let willKnow = bounds.skew != [0, 0] && entry?.mark == .pending
            guard knows || willKnow else {
                throw ModelViolation(
                    promise: "a cursor covers only what was taken in",
                    detail: "d\(index) \(name) at \(device.replica.state.cursor)")
            }
        }
    }

    private func checkDisk(_ index: Int) throws {
        guard let disk = devices[index].disk else { return }
        let replica = devices[index].replica
        guard disk.table == replica.table, disk.state.cursor == replica.state.cursor,
            disk.state.epoch == replica.state.epoch,
            disk.initialSyncCompleted == replica.initialSyncCompleted
        else {
            throw ModelViolation(promise: "the log says what memory says", detail: "d\(index)")
        }
    }

    /// What must hold where nothing is under way: nobody has anything to do but write.
    func checkRest() throws {
        for index in devices.indices {
            let replica = devices[index].replica
            guard replica.initialSyncCompleted, replica.pendingKeys.isEmpty,
                devices[index].flight == .none
            else {
                throw ModelViolation(
                    promise: "at rest nothing is pending",
                    detail: "d\(index) keeps \(replica.pendingKeys.sorted())")
            }
            for (key, name) in Self.keys.enumerated() {
                let held = hub.entries[name]?.record
                let mine = replica.table[name]?.record
                let isAlive = held.map { !$0.content.isTombstone } ?? false
                guard isAlive ? held == mine : mine?.content.isTombstone ?? true else {
                    throw ModelViolation(
                        promise: "at rest every device has the daemon's records",
                        detail: "d\(index) \(name) \(stamp(mine)), not \(stamp(held))")
                }
                guard held == greatest[key], devices[index].owed[key] == nil else {
                    throw ModelViolation(
                        promise: "at rest the greatest stamp of all writes has won",
                        detail: "\(name) \(stamp(held))")
                }
            }
        }
    }
}
