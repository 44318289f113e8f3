import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("Keys of canonically equivalent texts in a ledger")
struct LedgerKeyTests {
    private let store = StoreID(account: "a", name: "s")
    private let now: Int64 = 1_000_000

    private func open(_ disk: SimulatedDisk) throws -> Ledger {
        var options = Ledger.Options()
        options.segmentByteCount = 4_096
        options.compactionByteCount = 512
        return try Ledger(storage: disk.storage(), options: options, seed: 1)
    }

    private func apply(_ records: [StoreRecord], to ledger: Ledger) throws {
        let answer = try ledger.apply(
            SyncRequest(replica: ReplicaID(rawValue: 1), since: nil, changes: records), to: store, now: now)
        #expect(answer.rejections.isEmpty)
    }

    @Test("both keys survive reopening, compaction and the removal of one", arguments: 1...5)
    func reopened(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        var expected: [StoreKey: StoreRecord] = [:]
        let pairs = (0..<10).map { number -> (StoreKey, StoreKey) in
            let (left, right) = StoreKey.canonicalEquivalents(using: &random)
            return ("\(number) \(left)", "\(number) \(right)")
        }
        let first = try open(disk)
        for time in 1...20 as ClosedRange<Int64> {
            for (index, pair) in pairs.enumerated() {
                for key in [pair.0, pair.1] {
                    let record = StoreRecord.other(key, "\(index) \(key == pair.0) \(time)", at: time)
                    expected[key] = record
                    try apply([record], to: first)
                }
            }
            try first.sync()
            try first.compactStep()
        }
        for _ in 0..<200 {
            try first.compactStep()
            try first.sync()
        }
        #expect((disk.segments.first ?? 0) > 1, "seed \(seed)")
        try first.close()
        let second = try open(disk)
        #expect(second.hub(store)?.entries.mapValues(\.record) == expected, "seed \(seed)")
        for pair in pairs {
            expected[pair.0] = nil
            try apply([.other(pair.0, nil, at: 100)], to: second)
        }
        let end = WireLimits.tombstoneMilliseconds + 1_000
        try second.collectTombstones(of: store, now: end)
        try second.close()
        let third = try open(disk)
        #expect(third.hub(store)?.entries.mapValues(\.record) == expected, "seed \(seed)")
    }
}
