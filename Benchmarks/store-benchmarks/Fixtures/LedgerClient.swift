import Foundation
import KVStoreCore
import KVStoreLedger

/// One device of one store, as the daemon's ledger sees it.
final class LedgerClient {
    /// Milliseconds since 1970 of everything that happens in a benchmark.
    static let now: Int64 = 1_800_000_000_000

    let id: StoreID
    private let replica: ReplicaID
    private var cursor: SyncCursor?
    private var counter: UInt32 = 0

    init(store: Int) {
        id = StoreID(account: "account-\(store / 4)", name: "store-\(store)")
        replica = ReplicaID(rawValue: UInt64(store) + 1)
    }

    /// A request that changes these keys and nothing else.
    func request(_ values: [(key: StoreKey, value: Data)]) -> SyncRequest {
        let changes = values.map { key, value in
            counter += 1
            let stamp = StoreStamp(milliseconds: Self.now, counter: counter, replica: replica)
            return StoreRecord(key: key, stamp: stamp, content: .value(value))
        }
        return SyncRequest(replica: replica, since: cursor, changes: changes)
    }

    func apply(_ request: SyncRequest, to ledger: Ledger) throws {
        let answer = try ledger.apply(request, to: id, now: Self.now)
        guard answer.rejections.isEmpty else { throw Unexpected("the ledger refused a change") }
        cursor = answer.cursor
    }

    /// Sets keys 0..<`keyCount`, a few hundred a request; not synced.
    func fill(_ ledger: Ledger, keyCount: Int, valueByteCount: Int, number: Int = 0) throws {
        for start in stride(from: 0, to: keyCount, by: 256) {
            let values = (start..<min(start + 256, keyCount)).map { index in
                (Values.key(index), Values.bytes(valueByteCount, number: number + index))
            }
            try apply(request(values), to: ledger)
        }
    }
}

/// A benchmark that would not measure what it claims to.
struct Unexpected: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
