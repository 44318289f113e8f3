import Foundation
package import KVStoreCore

package enum Samples {
    package static let now: Int64 = 1_789_732_800_123
    package static let replica = ReplicaID(rawValue: 0x8f3a_c0de_51b2_0417)

    package static func stamp(
        _ milliseconds: Int64 = 0, _ counter: UInt32 = 0, replica: UInt64 = replica.rawValue
    ) -> StoreStamp {
        StoreStamp(milliseconds: now + milliseconds, counter: counter, replica: ReplicaID(rawValue: replica))
    }

    package static func change(_ key: String, _ stamp: StoreStamp = stamp(), _ value: String? = "value") -> StoreRecord
    {
        StoreRecord(key: StoreKey(key), stamp: stamp, content: value.map { .value(Data($0.utf8)) } ?? .tombstone)
    }

    package static func request(_ changes: [StoreRecord] = [], since: SyncCursor? = nil) -> SyncRequest {
        SyncRequest(replica: replica, since: since, changes: changes)
    }
}
