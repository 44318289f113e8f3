import KVStore
import KVStoreCore
import KVStoreLedger

extension World {
    /// What an app believes from its writes and notifications is what it reads, and nothing else.
    func checkBeliefs(_ address: ProcessAddress) throws(Violation) {
        guard let process = self[address] else { return }
        let visible = process.durable.replica.visibleContents
        if process.believed != visible {
            let keys = Set(process.believed.keys).union(visible.keys).filter { process.believed[$0] != visible[$0] }
            throw violation(
                "notifications equal the visible changes", "\(name(address)) was not notified of \(keys.sorted())")
        }
        let byteCount = visible.values.reduce(0) { $0 + $1.byteCount }
        if process.durable.replica.table.byteCount != byteCount
            || process.durable.replica.table.keyCount != visible.count
        {
            throw violation("the quota's counters equal a recount", name(address))
        }
    }

    /// What a killed program had in its log, and what a sync covered before a power failure, is there.
    func checkRecovered(_ durable: DurableReplica, on device: Int) throws(Violation) {
        defer { devices[device].mustHave = [] }
        let facts = facts[devices[device].store] ?? StoreFacts()
        guard !devices[device].wasDamaged else { return }
        let found = durable.replica.table.entries.mapValues(\.record)
        for record in devices[device].mustHave {
            // A removal that the daemon has forgotten gives way to a key that begins anew.
            if let removal = facts.forgotten[record.key], removal >= record.stamp { continue }
            guard let present = found[record.key], present.stamp >= record.stamp || facts.mayHaveGoneBack(record) else {
                throw violation(
                    "nothing written is lost",
                    "d\(device) had \(record.key) \(record.stamp), now "
                        + "\(found[record.key].map { $0.stamp.description } ?? "nothing")")
            }
        }
    }

    /// A write wins over what its author saw, whatever the clocks say.
    func checkWins(
        _ key: StoreKey, over former: StoreStamp?, at address: ProcessAddress
    ) throws(Violation) {
        guard let former, let record = self[address]?.durable.replica.table[key]?.record,
            record.stamp <= former
        else { return }
        throw violation("a write wins over what it replaces", "\(name(address)) \(key) \(record.stamp) over \(former)")
    }

    /// A value of the daemon takes the place of what was written before the first download; `early` is
    /// what stood there when the answer came.
    func checkDefaults(
        _ early: [StoreKey: StoreRecord.Content], against response: SyncResponse,
        at address: ProcessAddress
    ) throws(Violation) {
        guard !early.isEmpty, let replica = self[address]?.durable.replica,
            replica.state.initialSyncCompleted
        else { return }
        for record in response.changes.map(\.record) where record.content != .tombstone {
            guard let content = early[record.key], record.content != content,
                replica.table.content(forKey: record.key) == content
            else { continue }
            throw violation("a fresh install never overwrites", "\(name(address)) keeps its own \(record.key)")
        }
    }

    /// A device whose write is refused still receives, and its other writes arrive.
    func checkShortage() throws(Violation) {
        // A full disk may keep the daemon from starting.
        guard let ledger = daemon.ledger, (try? ledger.checkOpen()) != nil else { return }
        for (index, device) in devices.enumerated() {
            guard let hub = daemon.hub(device.store) else { continue }
            let held = hub.entries.mapValues(\.record.content).filter { $0.value != .tombstone }
            for replica in device.processes.compactMap(\.?.durable.replica) {
                let mine = replica.visibleContents
                let pending = replica.table.pendingKeys
                let missing = Set(held.keys).union(mine.keys).subtracting(pending).filter { held[$0] != mine[$0] }
                if !missing.isEmpty {
                    throw violation(
                        "what is refused keeps nothing from being received", "d\(index) \(missing.sorted())")
                }
                for record in pending.compactMap({ replica.table[$0]?.record }) {
                    try checkRefused(record, of: index, by: hub, ledger)
                }
            }
        }
        count("check while there is no room")
    }

    private func checkRefused(
        _ record: StoreRecord, of device: Int, by hub: Hub, _ ledger: Ledger
    ) throws(Violation) {
        let account = devices[device].store.account
        guard let limit = daemon.byteLimits[account] else { return }
        let room = max(0, limit - (ledger.accountTotals[account]?.memoryByteCount ?? 0))
        let plan = hub.plan([record], now: daemonTime)
        let growth = Ledger.memoryGrowth(of: plan, in: hub)
        guard !plan.accepted.isEmpty, growth <= room else { return }
        throw violation(
            "what is refused keeps nothing else from being sent",
            "d\(device) keeps \(record.key), which takes \(growth) bytes; there is room for \(room)")
    }

    /// A new stamp of a replica is greater than those before.
    func checkStamp(ofKey key: StoreKey, at address: ProcessAddress, unless before: StoreStamp?) throws(Violation) {
        let device = devices[address.device]
        guard !device.wasDamaged, let replica = self[address]?.durable.replica, let record = replica.table[key]?.record,
            record.stamp.replica == replica.id, record.stamp != before
        else { return }
        if let last = lastStamps[replica.id], record.stamp <= last {
            throw violation("stamps of one replica increase", "\(name(address)) \(record.stamp) after \(last)")
        }
        lastStamps[replica.id] = record.stamp
        devices[address.device].replicaIDs.insert(replica.id)
    }

    /// A stamp means one write, whatever becomes of it. A removal that nobody remembers leaves the stamp of what it
    /// removed.
    func checkSent(_ request: SyncRequest, from address: ProcessAddress) throws(Violation) {
        let store = devices[address.device].store
        for record in request.changes where record.content != .tombstone {
            let first = facts[store, default: StoreFacts()].firstOfStamp[record.stamp] ?? record
            facts[store, default: StoreFacts()].firstOfStamp[record.stamp] = first
            if first != record {
                throw violation("a stamp means one write", "\(record.key) and \(first.key) \(record.stamp)")
            }
        }
    }

    /// What the daemon accepted from a request is in its history; the same request changes nothing more.
    func checkTaken(_ request: SyncRequest, into store: StoreID) throws(Violation) {
        guard let hub = daemon.hub(store) else { return }
        if !hub.plan(request.changes, now: daemonTime).accepted.isEmpty {
            throw violation("a repeated request changes nothing", "\(request.changes.map(\.key))")
        }
        let values = hub.entries.values.map(\.record.content).filter { $0 != .tombstone }
        if hub.keyCount != values.count || hub.byteCount != values.reduce(0, { $0 + $1.byteCount }) {
            throw violation("the quota's counters equal a recount", "the daemon's of \(store.account)")
        }
        var facts = facts[store] ?? StoreFacts()
        for change in request.changes {
            guard let entry = hub.entries[change.key] else { continue }
            facts.remember(entry)
            let latest = latestDaemonTime + WireLimits.futureMilliseconds
            if entry.record.stamp.milliseconds > latest {
                throw violation("no stamp is from the future", "\(change.key) \(entry.record.stamp)")
            }
        }
        self.facts[store] = facts
    }

    /// Called after every sync of the daemon: all it holds is durable now.
    func rememberAcknowledged() {
        for store in stores {
            var facts = facts[store] ?? StoreFacts()
            facts.durableSequence = daemon.hub(store)?.sequence ?? 0
            for entry in (daemon.hub(store)?.entries ?? [:]).values {
                facts.everHeld.insert(entry.record)
                if let known = facts.acknowledged[entry.record.key], !entry.record.supersedes(known) {
                    continue
                }
                facts.acknowledged[entry.record.key] = entry.record
            }
            self.facts[store] = facts
        }
    }

    /// The daemon holds what it acknowledged, or something newer.
    func checkAcknowledged() throws(Violation) {
        for store in stores {
            let held = daemon.hub(store)?.entries ?? [:]
            for record in (facts[store]?.acknowledged ?? [:]).values {
                // After its removal has been forgotten a key is as if it had never been.
                if let removal = facts[store]?.forgotten[record.key], removal >= record.stamp {
                    continue
                }
                if let present = held[record.key]?.record, !record.supersedes(present) { continue }
                throw violation(
                    "nothing acknowledged is lost",
                    "\(record.key) \(record.stamp), now "
                        + "\(held[record.key].map { $0.record.stamp.description } ?? "nothing")")
            }
        }
    }
}
