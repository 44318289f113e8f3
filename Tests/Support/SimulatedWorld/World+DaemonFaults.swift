import KVStore
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation

extension World {
    func daemonFails(losesPower: Bool) {
        guard daemon.ledger != nil else { return }
        log(losesPower ? "daemon power failure" : "daemon kill", "")
        daemonEnds()
        if losesPower { daemon.disk.powerFails() }
    }

    func failDaemonDisk() {
        daemon.disk.faults = drawFaults(segmentCount: 6)
        log("daemon disk", "\(daemon.disk.faults)")
    }

    func beginShortage() {
        switch options.shortage {
        case .account:
            let totals = daemon.ledger?.accountTotals ?? [:]
            for store in stores { daemon.byteLimits[store.account] = totals[store.account]?.memoryByteCount ?? 0 }
        case .disk: daemon.disk.faults.capacity = 0
        case nil: return
        }
        log("shortage", "\(daemon.byteLimits.sorted { $0.key < $1.key })")
    }

    /// Everything else has been in order for long.
    func endShortage() throws(Violation) {
        try checkShortage()
        log("shortage ends", "")
        daemon.byteLimits = [:]
        daemon.disk.faults.capacity = nil
    }

    /// A byte of the daemon's log changes while it is down.
    func flipDaemonBit() throws(Violation) {
        guard daemon.ledger != nil else { return }
        daemonFails(losesPower: true)
        let tail: Int? = Bool.random(using: &random) ? 64 : nil
        guard daemon.disk.flipBit(inLastBytes: tail) else { return }
        log("daemon bit flip", tail.map(String.init) ?? "anywhere")
        daemon.wasDamaged = true
        loseHistory()
    }

    /// Three months pass for the removals that the daemon knows of a store.
    func collectTombstones() throws(Violation) {
        let store = stores.randomElement(using: &random)!
        // A log that waits for its recovery forgets nothing.
        guard let ledger = daemon.ledger, (try? ledger.checkOpen()) != nil, let before = daemon.hub(store),
            devices.allSatisfy({ $0.store != store || $0.processes.allSatisfy { $0 != nil } })
        else { return }
        do throws(LogError) {
            try ledger.collectTombstones(of: store, now: daemonTime + WireLimits.tombstoneMilliseconds + 60_000)
        } catch {
            log("collect failed", "\(error)")
            let uncertain = before.entries.values.filter { $0.record.content == .tombstone }
            rememberForgotten(uncertain, store)
            facts[store]?.uncertain = uncertain
            return daemonEnds()
        }
        let gone = before.entries.values.filter {
            daemon.hub(store)?.entries[$0.record.key] == nil
        }
        rememberForgotten(gone, store)
        facts[store]?.forget(through: gone.map(\.sequence).max() ?? 0)
        scheduleSync()
    }

    private func rememberForgotten(_ entries: [SequencedRecord], _ store: StoreID) {
        oldestMessageTime = time
        var facts = facts[store] ?? StoreFacts()
        let keys = Set(entries.map(\.record.key))
        facts.buried.formUnion(facts.everHeld.filter { keys.contains($0.key) })
        for process in devices.filter({ $0.store == store }).flatMap(\.processes) {
            guard let replica = process?.durable.replica else { continue }
            facts.resendable.formUnion(replica.table.entries.values.filter { $0.status != .acknowledged }.map(\.record))
        }
        for entry in entries.sorted(by: { $0.record.key < $1.record.key }) {
            let record = entry.record
            facts.forgotten[record.key] = max(facts.forgotten[record.key] ?? record.stamp, record.stamp)
            log("forget", "\(record.key) \(record.stamp)")
        }
        self.facts[store] = facts
    }

    func backUp() {
        guard daemon.ledger != nil, !daemon.wasDamaged else { return }
        daemon.backup = daemon.disk.snapshot()
        log("backup", "at \(stores.map { daemon.hub($0)?.sequence ?? 0 })")
    }

    /// An operator puts the last backup back, by the daemon's own means, which begin a new history, or by copying
    /// the files.
    func restore() throws(Violation) {
        guard let backup = daemon.backup, daemon.ledger != nil else { return }
        let isDeclared = Bool.random(using: &random)
        log("restore", isDeclared ? "declared" : "by copying")
        daemonEnds()
        daemon.disk.faults = FaultPlan()
        daemon.disk.restore(backup)
        daemon.wasDamaged = false
        loseHistory()
        try startDaemon()
        guard isDeclared else { return }
        do throws(LogError) {
            try daemon.ledger?.renewEpochs()
        } catch {
            throw violation("restore", "\(error)")
        }
        daemon.isSyncDue = true
        try syncDaemon()
    }

    /// What a daemon's operator does when it refuses to start.
    func repairDaemon() throws(Violation) {
        guard daemon.wasDamaged else {
            throw violation("a log that nobody touched opens", "the daemon calls it damaged")
        }
        log("daemon replaced", daemon.backup == nil ? "empty" : "by a backup")
        daemon.disk.restore(daemon.backup ?? [:])
        daemon.wasDamaged = false
        loseHistory()
    }

    /// The daemon no longer has to have what it acknowledged; what devices have on disk has to come back.
    private func loseHistory() {
        hasRestored = true
        for store in stores {
            var facts = facts[store] ?? StoreFacts()
            facts.acknowledged = [:]
            facts.forgottenSequence = 0
            facts.uncertain = []
            facts.mustReturn = []
            for (index, device) in devices.enumerated() where device.store == store && !device.wasDamaged {
                facts.mustReturn += device.flushed.values.map { (index, $0) }
            }
            self.facts[store] = facts
        }
        replacementCounts = devices.map(\.replacementCount)
    }
}
