@testable import KVStore

/// A replica that has done its first download and hears records from its daemon, answer by
/// answer.
struct ReceivingReplica {
    private(set) var replica: Replica
    private var cursor: UInt64 = 0

    init(id: UInt64 = 77) {
        replica = Replica(id: ReplicaID(rawValue: id), limits: StoreLimits(), seed: id)
        _ = replica.handle(.attached(isLive: false), at: now)
        answer([], initial: true)
    }

    private var now: Moment { Moment(wall: HistoryGenerator.time, monotonic: 0) }

    var records: [String: Record] { replica.table.entries.mapValues(\.record) }

    mutating func receive(_ records: [Record]) { answer(records, initial: false) }

    private mutating func answer(_ records: [Record], initial: Bool) {
        _ = replica.handle(.synchronize(waiter: 1), at: now)
        // Numbers at or below the cursor: what a daemon tells again of what is known.
        let changes = records.map { SyncChange($0, seq: cursor) }
        cursor += 1
        _ = replica.handle(
            .answered(
                SyncResponse(
                    epoch: "epoch", cursor: cursor, serverTime: now.wall, initial: initial,
                    more: false, changes: changes)), at: now)
    }
}
