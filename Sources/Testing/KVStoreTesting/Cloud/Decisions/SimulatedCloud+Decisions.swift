import Foundation
import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// Delivers an event to a device's replica and records the decisions that it causes there. Only a full download
    /// concerns keys that it does not name.
    func deliver(_ event: Event, to replica: LocalReplica, of driver: CloudDriver) {
        let incoming: [SequencedRecord]
        switch event {
        case .answered(_, .success(let response)): incoming = response.changes
        case .stream(_, .changes(let changes)): incoming = changes
        default: return _ = replica.deliver(event)
        }
        let (isDownload, before) = replica.read { replica in
            let isDownload = replica.isDownloading
            return (isDownload, isDownload ? replica.table.entries : replica.entries(of: incoming))
        }
        replica.deliver(event)
        let isNew = incoming.contains { before[$0.record.key]?.record != $0.record }
        guard isNew || isDownload else { return }
        let after = replica.read { isDownload ? $0.table.entries : $0.entries(of: incoming) }
        log(
            Decision.made(byReplicaOn: incoming.map { $0.record }, before: before, after: after),
            at: .device(driver.program.machine.name), in: driver.storeID)
    }

    /// Logs what a store has posted.
    func take(_ notification: CloudNotification, of program: Program) {
        log("\(program.label) posts reason \(notification.reason.rawValue) for \(notification.keys)")
        record(notification, of: program)
        // The cloud's own refusals have been recorded where they were made.
        guard notification.reason == .quotaViolationChange, !program.isDelivering else { return }
        let account = program.machine.state.withLock { $0.account } ?? "none"
        let store = program.run?.store
        log(
            notification.keys.map { key in
                CloudDecision(
                    time: now, place: .device(program.machine.name), account: account, key: key,
                    incoming: nil, present: store?.record(forKey: key).map(version),
                    winner: .present, reason: .refusedForQuota(limit: nil))
            })
    }

    /// Logs what was decided now.
    func log(_ decisions: [Decision<StoreRecord>], at place: CloudDecision.Place, in store: StoreID) {
        let made = decisions.map { decision in
            CloudDecision(
                time: now, place: place, account: store.account, key: decision.key.text,
                incoming: decision.incoming.map(version), present: decision.present.map(version),
                winner: decision.winner, reason: decision.reason)
        }
        log(made)
        guard recorder != nil else { return }
        for (decision, made) in zip(decisions, made) { record(decision, as: made, in: store) }
    }

    func version(_ record: StoreRecord) -> CloudDecision.Version {
        let value: PropertyListValue? =
            switch record.content {
            case .value(let data): try? PropertyListValue(encoded: data)  // nil for other bytes
            case .tombstone: nil
            }
        let replica = record.stamp.replica
        return CloudDecision.Version(
            value: value, stamp: record.stamp, writer: state.withLock { $0.writers[replica] } ?? "replica \(replica)")
    }
}

extension Replica {
    fileprivate func entries(of changes: [SequencedRecord]) -> [StoreKey: Table.Entry] {
        var entries: [StoreKey: Table.Entry] = [:]
        for change in changes { entries[change.record.key] = table[change.record.key] }
        return entries
    }
}
