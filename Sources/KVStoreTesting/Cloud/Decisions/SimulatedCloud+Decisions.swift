import Foundation
import KVStore
import KVStoreCore
import Synchronization

// What won is read off the shipped code: the records before and after its step. Nothing here decides; the reason only
// says in words what the two stamps and the outcome show.
extension SimulatedCloud {
    /// What the cloud made of a request.
    func decisions(
        on request: SyncRequest, rejections: [SyncRejection], before: [StoreKey: Record],
        after: [StoreKey: Record], account: String
    ) -> [CloudDecision] {
        request.changes.compactMap { incoming in
            let present = before[incoming.key]
            let rejection = rejections.first { $0.key == incoming.key }
            guard present != incoming || rejection != nil else { return nil }
            let isTaken = after[incoming.key] == incoming
            return decision(
                at: .cloud, account: account, incoming: incoming, present: present,
                isTaken: isTaken, isTaken ? nil : rejection.map(Self.reason))
        }
    }

    private static func reason(of rejection: SyncRejection) -> CloudDecision.Reason {
        switch rejection.reason {
        case .quota(let limit): .refusedForQuota(limit: Int64(limit))
        case .clock: .refusedForClock
        case .again: .refusedForNow
        case .key: .refusedForKey
        }
    }

    private static func reason(
        isTaken: Bool, incoming: Record?, present: Record?
    ) -> CloudDecision.Reason {
        guard let incoming, let present else { return .nothingThere }
        if incoming.stamp == present.stamp { return .greaterBytes }
        // An older record that was taken all the same: what was here stood for something forgotten.
        if isTaken, incoming.stamp < present.stamp { return .removalForgotten }
        return .greaterStamp
    }

    /// Delivers an event to a device's replica and records the decisions that it causes there. Only a full download
    /// concerns keys that it does not name.
    func deliver(_ event: Event, to replica: LocalReplica, of driver: CloudDriver) {
        let incoming: [SequencedRecord]
        switch event {
        case .answered(_, .success(let response)): incoming = response.changes
        case .stream(_, .change(let change)): incoming = [change]
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
        note(
            decisions(
                on: incoming.map { $0.record }, before: before, after: after,
                device: driver.program.machine.name, account: driver.storeID.account))
    }

    private func decisions(
        on incoming: [Record], before: [StoreKey: Table.Entry], after: [StoreKey: Table.Entry],
        device: String, account: String
    ) -> [CloudDecision] {
        let place = CloudDecision.Place.device(device)
        let aboutIncoming: [CloudDecision] = incoming.compactMap { record in
            let present = before[record.key]
            guard present?.record != record else { return nil }
            let isTaken = after[record.key]?.record == record
            return decision(
                at: place, account: account, incoming: record, present: present?.record,
                isTaken: isTaken,
                present?.status != .provisional
                    ? nil : isTaken ? .provisionalGaveWay : .provisionalKept)
        }
        let named = Set(incoming.map { $0.key })
        let others = before.filter { !named.contains($0.key) }
        return aboutIncoming
            + others.sorted { $0.key < $1.key }.compactMap { key, former in
                guard let entry = after[key] else { return nil }
                if former.status == .provisional, entry.status != .provisional {
                    return decision(
                        at: place, account: account, incoming: nil, present: entry.record,
                        isTaken: false, .provisionalKept)
                }
                guard entry.record.content == .tombstone, former.record.content != .tombstone
                else { return nil }
                return decision(
                    at: place, account: account, incoming: nil, present: former.record,
                    isTaken: true, .goneFromCloud)
            }
    }

    /// Notes what a store has posted.
    func take(_ notification: CloudNotification, of program: Program) {
        note(
            "\(program.label) posts reason \(notification.reason.rawValue) for \(notification.keys)"
        )
        // The cloud's own refusals have been recorded where they were made.
        guard notification.reason == .quotaViolationChange, !program.isDelivering else { return }
        let account = program.machine.state.withLock { $0.account } ?? "none"
        let store = program.run?.store
        note(
            notification.keys.map { key in
                CloudDecision(
                    time: now, place: .device(program.machine.name), account: account, key: key,
                    incoming: nil, present: store?.record(forKey: key).map(version),
                    winner: .present, reason: .refusedForQuota(limit: nil))
            })
    }

    /// Without a reason it is what the stamps show.
    private func decision(
        at place: CloudDecision.Place, account: String, incoming: Record?, present: Record?,
        isTaken: Bool, _ reason: CloudDecision.Reason?
    ) -> CloudDecision {
        CloudDecision(
            time: now, place: place, account: account,
            key: (incoming ?? present)?.key.text ?? "", incoming: incoming.map(version),
            present: present.map(version), winner: isTaken ? .incoming : .present,
            reason: reason ?? Self.reason(isTaken: isTaken, incoming: incoming, present: present))
    }

    func version(_ record: Record) -> CloudDecision.Version {
        let value: PropertyListValue? =
            switch record.content {
            case .value(let data): try? PropertyListValue(encoded: data)
            case .tombstone: nil
            }
        let replica = record.stamp.replica
        return CloudDecision.Version(
            value: value, stamp: record.stamp,
            writer: state.withLock { $0.writers[replica] } ?? "replica \(replica)")
    }
}

extension Replica {
    fileprivate func entries(of changes: [SequencedRecord]) -> [StoreKey: Table.Entry] {
        var entries: [StoreKey: Table.Entry] = [:]
        for change in changes { entries[change.record.key] = table[change.record.key] }
        return entries
    }
}
