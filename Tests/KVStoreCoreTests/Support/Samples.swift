import Foundation

@testable import KVStoreCore

/// Records and requests for a hub.
enum Samples {
    static let now: Int64 = 1_789_732_800_123
    static let replica = ReplicaID(rawValue: 0x8f3a_c0de_51b2_0417)

    static func stamp(_ milliseconds: Int64 = 0, _ counter: UInt32 = 0, replica: UInt64 = replica.rawValue)
        -> StoreStamp
    {
        StoreStamp(milliseconds: now + milliseconds, counter: counter, replica: ReplicaID(rawValue: replica))
    }

    static func record(_ key: StoreKey, _ stamp: StoreStamp = stamp(), _ value: String? = "value") -> StoreRecord {
        StoreRecord(key: key, stamp: stamp, content: value.map { .value(Data($0.utf8)) } ?? .tombstone)
    }

    static func request(_ changes: [StoreRecord] = [], since: SyncCursor? = nil) -> SyncRequest {
        SyncRequest(replica: replica, since: since, changes: changes)
    }
}

extension Hub {
    /// Handles a request as the daemon does.
    mutating func apply(_ request: SyncRequest, now: Int64 = Samples.now) -> SyncResponse {
        let plan = plan(request.changes, now: now)
        commit(plan)
        return answer(request, plan: plan, now: now)
    }

    var records: [StoreKey: StoreRecord] { entries.mapValues(\.record) }
}
