import Foundation
import KVStoreCore

/// Random messages, with extreme numbers and the keys of `Samples`.
struct GeneratedMessages<Random: RandomNumberGenerator> {
    var random: Random

    mutating func request() -> SyncRequest {
        SyncRequest(
            replica: ReplicaID(rawValue: number()), since: flag() ? cursor() : nil,
            horizon: flag() ? sequence() : nil, changes: list { $0.record() })
    }

    mutating func response() -> SyncResponse {
        let isInitial = flag()
        return SyncResponse(
            cursor: cursor(), serverTime: time(), isInitial: isInitial, hasMore: flag(),
            changes: list { SequencedRecord(record: $0.record(), sequence: $0.sequence()) },
            rejections: list { $0.rejection() }, horizon: sequence(), lineage: isInitial ? list { $0.cursor() } : [])
    }

    private mutating func rejection() -> SyncRejection {
        let limit = Int(sequence() >> 10)
        let reason: SyncRejection.Reason =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .clock(limit: time(), present: nil)
            case 1: .clock(limit: time(), present: stamp())
            case 2: .quota(limit: limit)
            case 3: .key(limit: limit)
            default: .again
            }
        return SyncRejection(key: key(), stamp: stamp(), reason: reason)
    }

    private mutating func record() -> StoreRecord {
        let byteCount = [0, 1, 14, 15, 300].randomElement(using: &random) ?? 0
        let value = Data((0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &random) })
        return StoreRecord(key: key(), stamp: stamp(), content: flag() ? .value(value) : .tombstone)
    }

    private mutating func key() -> StoreKey {
        flag() ? StoreKey("") : Samples.literalKeys.randomElement(using: &random) ?? "key"
    }

    private mutating func stamp() -> StoreStamp {
        StoreStamp(
            milliseconds: Int64(number() >> 16), counter: UInt32(truncatingIfNeeded: number()),
            replica: ReplicaID(rawValue: number()))
    }

    private mutating func cursor() -> SyncCursor {
        SyncCursor(epoch: EpochID(rawValue: number()), sequence: sequence())
    }

    private mutating func list<Element>(_ element: (inout Self) -> Element) -> [Element] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in element(&self) }
    }

    private mutating func flag() -> Bool { Bool.random(using: &random) }

    /// Within `WireNumber.sequence`.
    private mutating func sequence() -> UInt64 { number() >> 1 }

    /// Within `WireNumber.milliseconds`.
    private mutating func time() -> Int64 {
        let time = Int64(number() >> 16)
        return flag() ? time : -time
    }

    private mutating func number() -> UInt64 {
        [0, 1, .max, UInt64.random(in: 0...UInt64.max, using: &random)].randomElement(using: &random) ?? 0
    }
}
