import Foundation
import KVStore
import KVStoreCore

extension World {
    /// In a healed world everybody has the same, and it is what had to win.
    func checkRest() throws(Violation) {
        if let pendingViolation { throw pendingViolation }
        try checkAcknowledged()
        for store in stores {
            guard let hub = daemon.hub(store) else { continue }
            let visible = hub.entries.mapValues(\.record.content).filter { $0.value != .tombstone }
            for (device, value) in devices.enumerated() where value.store == store {
                for index in value.processes.indices {
                    try checkAtRest(device, index, visible: visible)
                }
            }
            try checkOwner(of: visible, store)
            try checkReturned(to: hub, store)
            try checkBuried(in: hub, store)
            try checkFlushed(in: hub, store)
        }
        try checkStreams()
    }

    private func checkAtRest(_ device: Int, _ index: Int, visible: [StoreKey: StoreRecord.Content]) throws(Violation) {
        let name = "d\(device)p\(index)"
        guard let replica = devices[device].processes[index]?.durable.replica else {
            throw violation("programs come back", name)
        }
        if !replica.state.initialSyncCompleted {
            throw violation("the first download completes", name)
        }
        if !replica.table.pendingKeys.isEmpty {
            throw violation("pending keys are sent", "\(name) keeps \(replica.table.pendingKeys.sorted())")
        }
        let mine = replica.visibleContents
        if mine != visible {
            let keys = Set(mine.keys).union(visible.keys).filter { mine[$0] != visible[$0] }
            let hub = daemon.hub(devices[device].store)
            let pairs = keys.sorted().map { key in
                let record = replica.table[key]?.record
                return "\(key) \(Self.describe(record)), daemon \(Self.describe(hub?.entries[key]?.record))"
            }
            throw violation("all converge", "\(name) has \(pairs.joined(separator: ", "))")
        }
    }

    static func describe(_ record: StoreRecord?) -> String {
        guard let record else { return "nothing" }
        return "\(record.stamp)" + (record.content == .tombstone ? " removed" : "")
    }

    /// Values of one account never reach another.
    private func checkOwner(of visible: [StoreKey: StoreRecord.Content], _ store: StoreID) throws(Violation) {
        for (key, content) in visible {
            guard case .value(let data) = content else { continue }
            if !data.starts(with: Data("\(store.account) ".utf8)) {
                throw violation("accounts are kept apart", "\(key) in \(store.account)")
            }
        }
    }

    /// After the daemon has lost a part of its history it gets it back from the devices.
    private func checkReturned(to hub: Hub, _ store: StoreID) throws(Violation) {
        for (index, record) in facts[store]?.mustReturn ?? [] {
            let device = devices[index]
            guard !device.wasDamaged, facts[store]?.mayHaveGoneBack(record) != true,
                device.replacementCount == replacementCounts[index]
            else { continue }
            if let removal = facts[store]?.forgotten[record.key], removal >= record.stamp {
                continue
            }
            if let held = hub.entries[record.key]?.record, held.stamp >= record.stamp { continue }
            throw violation(
                "what the daemon lost comes back from the devices", "\(record.key) \(record.stamp) of d\(index)")
        }
    }

    private func checkBuried(in hub: Hub, _ store: StoreID) throws(Violation) {
        guard !hasRestored, !devices.contains(where: \.wasDamaged), let facts = facts[store] else {
            return
        }
        for (key, stamp) in facts.forgotten {
            if let record = hub.entries[key]?.record, record.stamp < stamp, record.content != .tombstone,
                facts.buried.contains(record), !facts.resendable.contains(record)
            {
                throw violation("no deleted key returns", "\(key) \(record.stamp)")
            }
        }
    }

    /// What a device has flushed is there, or has given way to a greater record.
    private func checkFlushed(in hub: Hub, _ store: StoreID) throws(Violation) {
        guard !hasRestored, !devices.contains(where: \.wasDamaged), let facts = facts[store] else {
            return
        }
        for record in facts.flushed.values where !facts.mayHaveGoneBack(record) {
            if let removal = facts.forgotten[record.key], removal >= record.stamp { continue }
            if let held = hub.entries[record.key]?.record, !record.supersedes(held) { continue }
            throw violation("no write gives way to an older one", "\(record.key) \(record.stamp)")
        }
    }

    /// All changes have been delivered to live readers.
    private func checkStreams() throws(Violation) {
        for stream in daemon.streams
        where !stream.isBroken && isAwaited(.stream(id: stream.streamID, .heartbeat), at: stream.address) {
            let hub = daemon.hub(devices[stream.address.device].store)
            if let hub, stream.cursor.sequence < hub.sequence {
                throw violation(
                    "a live reader receives everything",
                    "\(name(stream.address)) is at \(stream.cursor.sequence) of \(hub.sequence)")
            }
        }
    }
}
