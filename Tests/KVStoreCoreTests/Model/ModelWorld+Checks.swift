@testable import KVStoreCore

extension ModelWorld {
    // MARK: - Steps

    /// Notifications contain what has changed, so an app that reads only after its own writes and after
    /// notifications knows what it would read.
    func checkNotifications(
        _ notifications: [StoreChange], after step: DeviceStep, before: [StoreRecord.Content?], by index: Int
    ) throws {
        let after = devices[index].contents
        var expected = Self.keys.indices.filter { before[$0] != after[$0] }.map { Self.keys[$0] }
        if case .write(let key, _) = step { expected.removeAll { $0 == Self.keys[key] } }
        let notified = notifications.flatMap(\.keys).map { StoreKey($0) }.sorted()
        guard notified == expected else {
            throw ModelViolation(
                promise: "notifications equal the visible changes",
                detail: "d\(index) was notified of \(notified), changed were \(expected)")
        }
    }

    /// The device now has everything that the daemon had, whatever it had written before.
    mutating func checkFirstDownload(_ answer: SyncResponse?, by index: Int) throws {
        devices[index].firstSequence = answer?.cursor.sequence
        for change in answer?.changes ?? [] where !change.record.content.isTombstone {
            guard let entry = devices[index].replica.table[change.record.key],
                entry.record == change.record, entry.status == .acknowledged
            else {
                throw ModelViolation(
                    promise: "the first download brings what the daemon has", detail: "d\(index) \(change.record.key)")
            }
        }
    }

    // MARK: - States

    /// The invariants of every state.
    func check() throws {
        for index in devices.indices {
            try checkCounters(index)
            for key in 0..<2 { try checkEntry(key, of: index) }
            try checkDisk(index)
        }
        if bounds.bug == nil { try checkCaches() }
        let values = hub.entries.values.filter { !$0.record.content.isTombstone }
        guard hub.keyCount == values.count, hub.byteCount == values.reduce(0, { $0 + $1.record.content.byteCount })
        else { throw ModelViolation(promise: "counters equal a recount", detail: "daemon") }
    }

    private func checkCounters(_ index: Int) throws {
        let table = devices[index].replica.table
        var (byteCount, keyCount) = (0, 0)
        var pending: Set<StoreKey> = []
        for (key, entry) in table.entries {
            if case .value(let data) = entry.record.content {
                byteCount += data.count
                keyCount += 1
            }
            if entry.status != .acknowledged { pending.insert(key) }
        }
        guard table.byteCount == byteCount, table.keyCount == keyCount,
            table.pendingKeys == pending
        else { throw ModelViolation(promise: "counters equal a recount", detail: "d\(index)") }
    }

    private func checkEntry(_ key: Int, of index: Int) throws {
        let device = devices[index]
        let name = Self.keys[key]
        let entry = device.replica.table[name]
        if let owed = device.owed[key] {
            guard let entry, entry.status == .pending, entry.record == owed else {
                throw ModelViolation(
                    promise: "a write stays pending until the daemon has it or a greater one",
                    detail: "d\(index) \(name) \(owed.stamp), there is \(stamp(entry?.record))")
            }
        }
        // After a failover a device learns from the new epoch what is lost.
        guard isInPresentEpoch(device) else { return }
        if let entry, entry.status == .acknowledged {
            let isHeld = greatest[key].map { !Self.isGreater(entry.record, $0) } ?? false
            let isForgotten = forgotten[key].map { entry.record.stamp <= $0 } ?? false
            guard isHeld || isForgotten else {
                throw ModelViolation(
                    promise: "what a device considers acknowledged is not lost",
                    detail: "d\(index) \(name) \(entry.record.stamp)")
            }
        }
        if let held = hub.entries[name], held.sequence <= device.replica.state.cursor?.sequence ?? 0 {
            let knows = entry.map { !Self.isGreater(held.record, $0.record) } ?? false
            // A rejected write may be reissued below what came with the rejection. It is sent, and the
            // answer brings the winner.
            let willKnow = bounds.skew != [0, 0] && entry?.status == .pending
            guard knows || willKnow else {
                throw ModelViolation(
                    promise: "a cursor covers only what was applied",
                    detail: "d\(index) \(name) at \(device.replica.state.cursor as Any)")
            }
        }
    }

    func isInPresentEpoch(_ device: ModelDevice) -> Bool {
        bounds.failovers == 0 || generations.areEqual && device.replica.state.cursor?.epoch == hub.end.epoch
    }

    private func checkDisk(_ index: Int) throws {
        guard let disk = devices[index].disk else { return }
        let replica = devices[index].replica
        guard disk.table == replica.table, disk.state.cursor == replica.state.cursor,
            disk.state.initialSyncCompleted == replica.state.initialSyncCompleted
        else {
            throw ModelViolation(promise: "the log says what memory says", detail: "d\(index)")
        }
    }

    /// The invariants of a state in which nothing is under way.
    func checkRest() throws {
        for index in devices.indices {
            let replica = devices[index].replica
            guard replica.state.initialSyncCompleted, replica.table.pendingKeys.isEmpty, devices[index].flight == .none
            else {
                throw ModelViolation(
                    promise: "at rest nothing is pending",
                    detail: "d\(index) keeps \(replica.table.pendingKeys.sorted())")
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
                guard due[key] == nil else {
                    throw ModelViolation(
                        promise: "at rest what the replicas held at a failover has come back",
                        detail: "\(name) \(stamp(due[key])), there is \(stamp(held))")
                }
                guard held == greatest[key], devices[index].owed[key] == nil else {
                    throw ModelViolation(
                        promise: "at rest the greatest stamp of all writes has won", detail: "\(name) \(stamp(held))")
                }
            }
        }
    }
}
