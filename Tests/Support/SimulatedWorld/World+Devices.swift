import KVStore
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import KVStoreTesting

extension World {
    // MARK: - Life of a program

    func start(_ device: Int, _ index: Int) throws(Violation) {
        guard devices[device].isSignedIn, devices[device].processes[index] == nil else { return }
        var options = DurableReplica.Options()
        options.segmentByteCount = self.options.segmentByteCount
        options.notificationKeyCount = isLikely(30) ? 1 : 50
        options.limits = self.options.limits
        options.page = self.options.page
        let storage = devices[device].disk.storage()
        let durable: DurableReplica
        do throws(LogError) {
            durable = try DurableReplica(storage: storage, options: options, seed: random.next())
        } catch {
            log("start failed", "d\(device)p\(index) \(error)")
            return ended(device, index)
        }
        if !durable.recovery.damage.isEmpty { devices[device].wasDamaged = true }
        try checkRecovered(durable, on: device)
        lastID += 1
        let address = ProcessAddress(device: device, process: index, incarnation: lastID)
        devices[device].processes[index] = SimulatedProcess(
            durable: durable, storage: storage, incarnation: lastID, believed: durable.replica.visibleContents)
        log("start", "\(name(address)) \(durable.replica.id)")
        try deliver(.attached(isLive: true), to: address)
    }

    /// The program is gone; it comes back after a while.
    func ended(_ device: Int, _ index: Int) {
        devices[device].processes[index]?.storage.kill()
        devices[device].processes[index] = nil
        queue.add(.start(device: device, process: index), at: time + delay(10...8_000))
    }

    /// SIGKILL between two calls: what is in the page cache stays.
    func kill(_ address: ProcessAddress) throws(Violation) {
        guard let process = self[address] else { return }
        log("kill", name(address))
        devices[address.device].programEnds(process.durable)
        ended(address.device, address.process)
    }

    func powerFails(_ device: Int) {
        log("power failure", "d\(device)")
        devices[device].mustHave = []
        for index in devices[device].processes.indices where devices[device].processes[index] != nil {
            ended(device, index)
        }
        devices[device].disk.powerFails()
        // Stamps that were lost with it have never left the device.
        for id in devices[device].replicaIDs { lastStamps[id] = nil }
        devices[device].mustHave = Array(devices[device].flushed.values)
    }

    // MARK: - Events

    func deliver(_ event: Event, to address: ProcessAddress) throws(Violation) {
        guard isAwaited(event, at: address) else { return }
        switch event {
        case .answered: self[address]?.requestID = nil
        case .streamEnded: self[address]?.streamID = nil
        default: break
        }
        var early: [StoreKey: StoreRecord.Content] = [:]
        let isWritten = try transact(address) { replica, now in
            if !replica.state.initialSyncCompleted {
                let pending = replica.table.pendingKeys
                early = replica.visibleContents.filter { pending.contains($0.key) }
            }
            return replica.handle(event, at: now)
        } wrote: { _ in
        }
        guard isWritten else { return try recover(from: event, at: address) }
        if case .answered(_, .success(let response)) = event {
            try checkDefaults(early, against: response, at: address)
        }
    }

    /// As `LocalReplica` does after a failure that the program survives.
    private func recover(from event: Event, at address: ProcessAddress) throws(Violation) {
        guard let process = self[address] else { return }
        switch process.durable.recovery(from: event, cause: .unreachable("the disk failed")) {
        case .handle(let failure): try deliver(failure, to: address)
        case .redeliver: queue.add(.deliver(event, address), at: time + Backoff.greatestMilliseconds)
        case .drop:
            // A store that cannot be connected does not open.
            if case .attached = event { ended(address.device, address.process) }
        }
    }

    /// Whether it was written down.
    @discardableResult
    func transact(
        _ address: ProcessAddress, _ body: (inout Replica, Instant) -> Ready,
        wrote: (inout SimulatedProcess) -> Void
    ) throws(Violation) -> Bool {
        guard let process = self[address] else { return false }
        let wasStale = process.durable.isStale
        let before = process.durable.replica
        let ready: Ready
        do throws(LogError) {
            ready = try process.durable.transact(at: instant(of: address.device), body)
        } catch {
            log("append failed", "\(name(address)) \(error)")
            if livesThrough(error, of: process.storage) {
                catchUpLater(address)
                return false
            }
            devices[address.device].programEnds(before, isStale: wasStale)
            ended(address.device, address.process)
            return false
        }
        wrote(&devices[address.device].processes[address.process]!)
        try execute(ready, at: address)
        try checkBeliefs(address)
        if self[address]?.isFlushScheduled == false {
            self[address]?.isFlushScheduled = true
            queue.add(.flush(address), at: time + 100)
        }
        try othersCatchUp(beside: address)
        return true
    }

    /// The other program of the device hears of the change to the file.
    private func othersCatchUp(beside address: ProcessAddress) throws(Violation) {
        for (index, other) in devices[address.device].processes.enumerated() {
            guard let other, index != address.process, isHealing || isLikely(70) else { continue }
            try catchUp(ProcessAddress(device: address.device, process: index, incarnation: other.incarnation))
        }
    }

    /// A program looks for what has been appended.
    func catchUp(_ address: ProcessAddress) throws(Violation) {
        guard let process = self[address] else { return }
        do throws(LogError) {
            let ready = try process.durable.catchUp(at: instant(of: address.device))
            try executeChecked(ready, at: address)
        } catch {
            log("catch up failed", "\(name(address)) \(error)")
            if livesThrough(error, of: process.storage) {
                catchUpLater(address)
            } else {
                ended(address.device, address.process)
            }
        }
    }

    /// As the product does it where what stands in the log may be more than what was read.
    private func catchUpLater(_ address: ProcessAddress) {
        guard self[address]?.isCatchUpScheduled == false else { return }
        self[address]?.isCatchUpScheduled = true
        queue.add(.catchUp(address), at: time + Backoff.greatestMilliseconds)
    }

    private func executeChecked(_ ready: Ready, at address: ProcessAddress) throws(LogError) {
        do throws(Violation) {
            try execute(ready, at: address)
            try checkBeliefs(address)
        } catch {
            pendingViolation = pendingViolation ?? error
        }
    }

    func flush(_ address: ProcessAddress) throws(Violation) {
        guard self[address] != nil else { return }
        self[address]?.isFlushScheduled = false
        _ = makeDurable(address)
    }

    /// Syncs the replica's log; false when that failed, which ends the program.
    func makeDurable(_ address: ProcessAddress) -> Bool {
        guard let process = self[address] else { return false }
        do throws(LogError) {
            try process.durable.sync()
        } catch {
            log("flush failed", "\(name(address)) \(error)")
            devices[address.device].programEnds(process.durable)
            ended(address.device, address.process)
            return false
        }
        guard !process.durable.isStale else { return true }
        let store = devices[address.device].store
        for (key, entry) in process.durable.replica.table.entries {
            guard entry.status != .provisional else {
                devices[address.device].flushed[key] = nil
                continue
            }
            devices[address.device].flushed[key] = entry.record
            facts[store, default: StoreFacts()].rememberFlushed(entry.record)
        }
        return true
    }
}

extension Replica {
    /// Records that only a greater stamp may replace; those written before the first download give way.
    var firmRecords: [StoreRecord] {
        table.entries.values.filter { $0.status != .provisional }.map(\.record)
    }
}
