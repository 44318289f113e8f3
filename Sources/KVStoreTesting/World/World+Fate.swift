import KVStore

extension World {
    /// Something goes wrong, or an operator does something; `chance` is in 0..<34.
    func fate(_ chance: Int) throws(Violation) {
        switch chance {
        case 0..<6 where options.hasCrashes:
            if let address = anyProcess() { try kill(address) }
        case 6..<9 where options.hasCrashes: powerFails(anyDevice())
        case 9..<14 where options.hasCrashes: daemonFails(losesPower: chance >= 12)
        case 14..<19 where options.hasNetworkFaults: togglePartition(anyDevice())
        case 19..<23 where options.hasClockFaults: stepClock()
        case 23..<28 where options.hasDiskFaults: failDisk(of: anyDevice())
        case 28..<30 where options.hasDiskFaults: failDaemonDisk()
        case 30 where options.hasDiskFaults: flipBit(of: anyDevice())
        case 31: try collectTombstones()
        case 32 where options.hasRestores: backUp()
        case 33 where options.hasRestores: try restore()
        default: break
        }
    }

    private func anyDevice() -> Int { Int.random(in: devices.indices, using: &random) }

    private func daemonFails(losesPower: Bool) {
        guard daemon.ledger != nil else { return }
        note(losesPower ? "daemon power failure" : "daemon kill", "")
        daemonEnds()
        if losesPower { daemon.disk.powerFails() }
    }

    private func togglePartition(_ device: Int) {
        devices[device].isPartitioned.toggle()
        note("partition", "d\(device) \(devices[device].isPartitioned)")
    }

    /// A device's clock steps, at times by a day or a year.
    private func stepClock() {
        let device = anyDevice()
        let sizes: [Int64] = [900, 45_000, 3_600_000, 86_400_000, 31_536_000_000]
        let size = sizes.randomElement(using: &random)!
        devices[device].clockError = Bool.random(using: &random) ? delay(-size...size) : 0
        note("clock", "d\(device) \(devices[device].clockError)")
    }

    private func failDisk(of device: Int) {
        var faults = SimulatedDisk.Faults()
        switch Int.random(in: 0..<4, using: &random) {
        case 0: faults.killInWrite = Int.random(in: 1...6, using: &random)
        case 1: faults.failSync = Int.random(in: 1...3, using: &random)
        case 2: faults.failCall = Int.random(in: 1...20, using: &random)
        default:
            faults.capacity =
                options.segmentByteCount * Int.random(in: 0...3, using: &random)
        }
        devices[device].disk.faults = faults
        note("disk", "d\(device) \(faults)")
    }

    private func failDaemonDisk() {
        var faults = SimulatedDisk.Faults()
        switch Int.random(in: 0..<4, using: &random) {
        case 0: faults.killInWrite = Int.random(in: 1...6, using: &random)
        case 1: faults.failSync = Int.random(in: 1...3, using: &random)
        case 2: faults.failCall = Int.random(in: 1...20, using: &random)
        default:
            faults.capacity =
                options.segmentByteCount * Int.random(in: 0...6, using: &random)
        }
        daemon.disk.faults = faults
        note("daemon disk", "\(faults)")
    }

    private func flipBit(of device: Int) {
        powerFails(device)
        devices[device].wasDamaged = true
        let tail: Int? = Bool.random(using: &random) ? 64 : nil
        if devices[device].disk.flipBit(inLastBytes: tail) {
            note("bit flip", "d\(device) \(tail.map(String.init) ?? "anywhere")")
        }
    }

    /// Three months pass for the removals that the daemon knows.
    private func collectTombstones() throws(Violation) {
        guard let ledger = daemon.ledger, let before = daemon.hub,
            devices.allSatisfy({ $0.processes.allSatisfy { $0 != nil } })
        else { return }
        do throws(HubLedger.Fault) {
            try ledger.collectTombstones(
                of: SimulatedDaemon.store,
                now: daemonTime + WireLimits.tombstoneMilliseconds + 60_000)
        } catch {
            note("collect failed", "\(error)")
            noteForgotten(before.entries.values.filter { $0.record.content == .tombstone })
            return daemonEnds()
        }
        noteForgotten(before.entries.values.filter { daemon.hub?.entries[$0.record.key] == nil })
        if !daemon.isSyncDue {
            daemon.isSyncDue = true
            queue.add(.daemonSync, at: time + delay(1...20))
        }
    }

    private func noteForgotten(_ entries: [Hub.Entry]) {
        oldestMessageTime = time
        buried.formUnion(everHeld)
        for process in devices.flatMap(\.processes) {
            guard let replica = process?.durable.replica else { continue }
            let pending = replica.pendingKeys
            resendable.formUnion(replica.records.filter { pending.contains($0.key) })
        }
        for record in entries.map(\.record).sorted(by: { $0.key < $1.key }) {
            forgotten[record.key] = max(forgotten[record.key] ?? record.stamp, record.stamp)
            note("forget", "\(record.key) \(record.stamp)")
        }
    }

    private func backUp() {
        guard daemon.ledger != nil else { return }
        daemon.backup = daemon.disk.snapshot()
        note("backup", "at \(daemon.hub?.sequence ?? 0)")
    }

    /// An operator restores the last backup, which starts a new history.
    private func restore() throws(Violation) {
        guard let backup = daemon.backup, daemon.ledger != nil else { return }
        note("restore", "")
        daemonEnds()
        daemon.disk.faults = SimulatedDisk.Faults()
        daemon.disk.restore(backup)
        hasRestored = true
        acknowledged = [:]
        forgotten = [:]
        try startDaemon()
        do throws(HubLedger.Fault) {
            try daemon.ledger?.renewEpochs()
        } catch {
            throw violation("restore", "\(error)")
        }
        daemon.isSyncDue = true
        try syncDaemon()
    }
}
