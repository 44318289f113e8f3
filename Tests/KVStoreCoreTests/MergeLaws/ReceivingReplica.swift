import StoreTestSupport

@testable import KVStoreCore

/// A replica that has completed its first download and receives records in answers.
struct ReceivingReplica {
    private(set) var replica: Replica
    private var sequence: UInt64 = 0

    init(id: UInt64 = 77) {
        replica = Replica(id: ReplicaID(rawValue: id), limits: StoreLimits(), seed: id)
        _ = replica.handle(.attached(isLive: false), at: now)
        answer([], isInitial: true)
    }

    private var now: Instant { Instant(wall: HistoryGenerator.time, monotonic: 0) }

    var records: [StoreKey: StoreRecord] { replica.table.entries.mapValues(\.record) }

    mutating func receive(_ records: [StoreRecord]) { answer(records, isInitial: false) }

    private mutating func answer(_ records: [StoreRecord], isInitial: Bool) {
        let request = replica.synchronize(at: now).ready.request
        // Sequence numbers at or below the cursor: what a daemon repeats.
        let changes = records.map { SequencedRecord(record: $0, sequence: sequence) }
        sequence += 1
        _ = replica.handle(
            .answered(
                id: request?.id ?? 0,
                .success(
                    SyncResponse(
                        cursor: SyncCursor(epoch: "epoch", sequence: sequence), serverTime: now.wall,
                        isInitial: isInitial, changes: changes))), at: now)
    }
}
