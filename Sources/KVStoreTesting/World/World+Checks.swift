import KVStore

extension World {
    /// What an app believes from its writes and notifications is what it reads, and nothing else.
    func checkBeliefs(_ address: ProcessAddress) throws(Violation) {
        guard let process = self[address] else { return }
        let visible = process.durable.replica.visibleContents
        if process.believed != visible {
            let keys = Set(process.believed.keys).union(visible.keys)
                .filter { process.believed[$0] != visible[$0] }
            throw violation(
                "notifications equal the visible changes",
                "\(name(address)) was not told of \(keys.sorted())")
        }
        let byteCount = visible.values.reduce(0) { $0 + $1.byteCount }
        if process.durable.replica.usedByteCount != byteCount
            || process.durable.replica.usedKeyCount != visible.count
        {
            throw violation("the quota's counters equal a recount", name(address))
        }
    }

    /// What a killed program had in its log, and what a sync covered before a power failure, is there.
    func checkRecovered(_ durable: DurableReplica, on device: Int) throws(Violation) {
        defer { devices[device].mustHave = [] }
        guard !devices[device].wasDamaged, clockRefusals == 0 else { return }
        var found: [String: Record] = [:]
        for record in durable.replica.records { found[record.key] = record }
        for record in devices[device].mustHave {
            // A removal that the daemon has forgotten gives way to a key that begins anew.
            if let removal = forgotten[record.key], removal >= record.stamp { continue }
            guard let present = found[record.key], present.stamp >= record.stamp else {
                throw violation(
                    "nothing written is lost",
                    "d\(device) had \(record.key) \(record.stamp), now "
                        + "\(found[record.key].map { $0.stamp.description } ?? "nothing")")
            }
        }
    }

    /// A new stamp of a replica is greater than those before, until the daemon has refused one.
    func checkStamp(
        ofKey key: String, at address: ProcessAddress, unless before: Stamp?
    ) throws(Violation) {
        guard clockRefusals == 0, !devices[address.device].wasDamaged,
            let replica = self[address]?.durable.replica,
            let record = replica.records.first(where: { $0.key == key }),
            record.stamp.replica == replica.id, record.stamp != before
        else { return }
        let last = devices[address.device].lastStamps[replica.id]
        if let last, record.stamp <= last {
            throw violation(
                "stamps of one replica increase", "\(name(address)) \(record.stamp) after \(last)")
        }
        devices[address.device].lastStamps[replica.id] = record.stamp
    }

    func checkIdempotence(of request: SyncRequest) throws(Violation) {
        guard let hub = daemon.hub else { return }
        let again = hub.plan(request.changes, now: daemonTime)
        if !again.accepted.isEmpty {
            throw violation("a repeated request changes nothing", "\(again.accepted.count) again")
        }
    }

    /// Called after every sync of the daemon: all it holds is durable now.
    func noteAcknowledged() {
        for entry in (daemon.hub?.entries ?? [:]).values {
            everHeld.insert(entry.record)
            if let known = acknowledged[entry.record.key], !entry.record.supersedes(known) {
                continue
            }
            acknowledged[entry.record.key] = entry.record
        }
    }

    /// The daemon holds what it acknowledged, or something newer.
    func checkAcknowledged() throws(Violation) {
        guard let hub = daemon.hub else {
            if let lost = acknowledged.values.first {
                throw violation("nothing acknowledged is lost", "the whole store, with \(lost.key)")
            }
            return
        }
        for record in acknowledged.values {
            // After its removal has been forgotten a key is as if it had never been.
            if let removal = forgotten[record.key], removal >= record.stamp { continue }
            if let held = hub.entries[record.key]?.record {
                if record.supersedes(held) {
                    throw violation(
                        "nothing acknowledged is lost",
                        "\(record.key) \(record.stamp), now \(held.stamp)")
                }
            } else {
                throw violation("nothing acknowledged is lost", "\(record.key) \(record.stamp)")
            }
        }
    }

    /// In a healed world everybody has the same, and it is what had to win.
    func checkRest() throws(Violation) {
        if let pendingViolation { throw pendingViolation }
        try checkAcknowledged()
        guard let hub = daemon.hub else { return }
        var visible: [String: Record.Content] = [:]
        for entry in hub.entries.values {
            if case .value = entry.record.content {
                visible[entry.record.key] = entry.record.content
            }
        }
        for (device, value) in devices.enumerated() {
            for (index, process) in value.processes.enumerated() {
                let name = "d\(device)p\(index)"
                guard let process else { throw violation("programs come back", name) }
                let replica = process.durable.replica
                if !replica.initialSyncCompleted {
                    throw violation("the first download completes", name)
                }
                if !replica.pendingKeys.isEmpty {
                    throw violation(
                        "pending keys are sent", "\(name) keeps \(replica.pendingKeys.sorted())")
                }
                if replica.visibleContents != visible {
                    let mine = replica.visibleContents
                    let keys = Set(mine.keys).union(visible.keys).filter { mine[$0] != visible[$0] }
                    throw violation("all converge", "\(name) differs in \(keys.sorted())")
                }
            }
        }
        guard !hasRestored, !devices.contains(where: \.wasDamaged) else { return }
        for (key, stamp) in forgotten {
            if let record = hub.entries[key]?.record, record.stamp < stamp,
                buried.contains(record), !resendable.contains(record)
            {
                throw violation("no deleted key returns", "\(key) \(record.stamp)")
            }
        }
    }
}
