package import KVStoreCore

/// A choice between two versions of a key, or a rejection.
///
/// It is derived from the records before and after a step of the production code: nothing here decides, the reason only
/// names what the two stamps and the outcome show.
package struct Decision<Version: Sendable>: Sendable {
    package var key: StoreKey
    /// Nil if the decision was not about an incoming version.
    package var incoming: Version?
    /// Nil if there was none.
    package var present: Version?
    package var winner: DecisionWinner
    package var reason: DecisionReason

    package init(
        _ key: StoreKey, incoming: Version?, present: Version?, winner: DecisionWinner,
        reason: DecisionReason
    ) {
        self.key = key
        self.incoming = incoming
        self.present = present
        self.winner = winner
        self.reason = reason
    }
}

extension Decision<StoreRecord> {
    /// What the server has decided about a request, with the records of its keys before and after it.
    package static func made(
        on changes: [StoreRecord], rejections: [SyncRejection] = [], before: [StoreKey: StoreRecord],
        after: [StoreKey: StoreRecord]
    ) -> [Decision] {
        changes.compactMap { incoming in
            let present = before[incoming.key]
            let rejection = rejections.first { $0.key == incoming.key }
            guard present != incoming || rejection != nil else { return nil }
            let wasAccepted = after[incoming.key] == incoming
            return Decision(
                incoming, present, wasAccepted: wasAccepted,
                wasAccepted ? nil : rejection.map { DecisionReason($0.reason) })
        }
    }

    /// What a replica has decided about records of the server, with its entries before and after. Only a full download
    /// concerns keys that it does not name.
    package static func made(
        byReplicaOn changes: [StoreRecord], before: [StoreKey: Table.Entry], after: [StoreKey: Table.Entry]
    ) -> [Decision] {
        let aboutChanges: [Decision] = changes.compactMap { record in
            let present = before[record.key]
            guard present?.record != record else { return nil }
            let wasAccepted = after[record.key]?.record == record
            return Decision(
                record, present?.record, wasAccepted: wasAccepted,
                present?.status != .provisional ? nil : wasAccepted ? .provisionalGaveWay : .provisionalKept)
        }
        let named = Set(changes.map(\.key))
        let others = before.filter { !named.contains($0.key) }.sorted { $0.key < $1.key }
        return aboutChanges
            + others.compactMap { key, former in
                guard let entry = after[key] else { return nil }
                if former.status == .provisional, entry.status != .provisional {
                    return Decision(
                        key, incoming: nil, present: entry.record, winner: .present, reason: .provisionalKept)
                }
                guard entry.record.content == .tombstone, former.record.content != .tombstone else { return nil }
                return Decision(key, incoming: nil, present: former.record, winner: .incoming, reason: .goneFromCloud)
            }
    }

    /// Without a reason it is the one that the stamps show.
    private init(_ incoming: StoreRecord, _ present: StoreRecord?, wasAccepted: Bool, _ reason: DecisionReason?) {
        self.init(
            incoming.key, incoming: incoming, present: present, winner: wasAccepted ? .incoming : .present,
            reason: reason
                ?? DecisionReason(wasAccepted: wasAccepted, incoming: incoming.stamp, present: present?.stamp))
    }
}

extension DecisionReason {
    fileprivate init(_ reason: SyncRejection.Reason) {
        self =
            switch reason {
            case .quota(let limit): .refusedForQuota(limit: Int64(limit))
            case .clock: .refusedForClock
            case .again: .refusedForNow
            case .key: .refusedForKey
            }
    }

    fileprivate init(wasAccepted: Bool, incoming: StoreStamp, present: StoreStamp?) {
        guard let present else {
            self = .nothingThere
            return
        }
        if incoming == present {
            self = .greaterBytes
        } else if wasAccepted, incoming < present {
            // The older record was accepted all the same: the present one stood for something forgotten.
            self = .removalForgotten
        } else {
            self = .greaterStamp
        }
    }
}

extension Hub {
    /// What it holds under the keys of changes: for `Decision.made`, before and after they are applied.
    package func records(of changes: [StoreRecord]) -> [StoreKey: StoreRecord] {
        var records: [StoreKey: StoreRecord] = [:]
        for change in changes { records[change.key] = entries[change.key]?.record }
        return records
    }
}
