import Foundation
import KVStore
import Synchronization

// What won is read off the shipped code: the records before and after its step. Nothing here decides; the reason only
// says in words what the two stamps and the outcome show.
extension SimulatedCloud {
    /// What the cloud made of a request.
    func decisions(
        on request: SyncRequest, rejected: [SyncRejection], before: [String: Record],
        after: [String: Record], account: String
    ) -> [CloudDecision] {
        request.changes.compactMap { change in
            guard let incoming = change.record else { return nil }
            let present = before[change.key]
            let rejection = rejected.first { $0.key == change.key }
            guard present != incoming || rejection != nil else { return nil }
            let reason: CloudDecision.Reason
            let isTaken = after[change.key] == incoming
            if let rejection, !isTaken {
                reason = Self.reason(of: rejection)
            } else {
                reason = Self.reason(isTaken: isTaken, incoming: incoming, present: present)
            }
            return decision(
                at: .cloud, account: account, incoming: incoming, present: present,
                isTaken: isTaken, reason)
        }
    }

    private static func reason(of rejection: SyncRejection) -> CloudDecision.Reason {
        switch rejection.reason {
        case SyncRejection.quota: .refusedForQuota(limit: rejection.limit)
        case SyncRejection.clock: .refusedForClock
        case SyncRejection.again: .refusedForNow
        default: .refusedForKey
        }
    }

    private static func reason(
        isTaken: Bool, incoming: Record, present: Record?
    ) -> CloudDecision.Reason {
        guard let present else { return .nothingThere }
        if incoming.stamp == present.stamp { return .greaterBytes }
        // An older record that was taken all the same: what was here stood for something forgotten.
        if isTaken, incoming.stamp < present.stamp { return .removalForgotten }
        return .greaterStamp
    }

    /// Runs the step and records what a device made of what it was told.
    func recordingDecisions<Result>(
        of event: Event, at driver: CloudDriver, _ replica: LocalReplica, _ step: () -> Result
    ) -> Result {
        let incoming: [SyncChange]
        switch event {
        case .answered(let response): incoming = response.changes
        case .stream(.change(let change)): incoming = [change]
        default: return step()
        }
        let before = replica.read { Glimpse($0) }
        let result = step()
        let after = replica.read { Glimpse($0) }
        note(
            decisions(
                on: incoming.compactMap(\.record), before: before, after: after,
                device: driver.program.machine.name, account: driver.storeID.account))
        return result
    }

    /// A replica's records at one moment.
    private struct Glimpse: Sendable {
        var records: [String: Record] = [:]
        var provisional: Set<String>

        init(_ replica: borrowing Replica) {
            provisional = replica.provisionalKeys
            for record in replica.records { records[record.key] = record }
        }
    }

    private func decisions(
        on incoming: [Record], before: Glimpse, after: Glimpse, device: String, account: String
    ) -> [CloudDecision] {
        let place = CloudDecision.Place.device(device)
        var decisions: [CloudDecision] = []
        for record in incoming {
            let present = before.records[record.key]
            guard present != record else { continue }
            let isTaken = after.records[record.key] == record
            var reason = Self.reason(isTaken: isTaken, incoming: record, present: present)
            if before.provisional.contains(record.key) {
                reason = isTaken ? .provisionalGaveWay : .provisionalKept
            }
            decisions.append(
                decision(
                    at: place, account: account, incoming: record, present: present,
                    isTaken: isTaken, reason))
        }
        let named = Set(incoming.map(\.key))
        for (key, present) in before.records.sorted(by: { $0.key < $1.key })
        where !named.contains(key) {
            guard let now = after.records[key] else { continue }
            if before.provisional.contains(key), !after.provisional.contains(key) {
                decisions.append(
                    decision(
                        at: place, account: account, incoming: nil, present: now, isTaken: false,
                        .provisionalKept))
            } else if now.content == .tombstone, present.content != .tombstone {
                decisions.append(
                    decision(
                        at: place, account: account, incoming: nil, present: present,
                        isTaken: true, .goneFromCloud))
            }
        }
        return decisions
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

    private func decision(
        at place: CloudDecision.Place, account: String, incoming: Record?, present: Record?,
        isTaken: Bool, _ reason: CloudDecision.Reason
    ) -> CloudDecision {
        CloudDecision(
            time: now, place: place, account: account,
            key: incoming?.key ?? present?.key ?? "", incoming: incoming.map(version),
            present: present.map(version), winner: isTaken ? .incoming : .present, reason: reason)
    }

    private func version(_ record: Record) -> CloudDecision.Version {
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
