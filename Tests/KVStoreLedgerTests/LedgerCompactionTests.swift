import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("Compaction of a ledger")
struct LedgerCompactionTests {
    private static let now: Int64 = 1_800_000_000_000

    private func ledger(_ disk: SimulatedDisk, seed: UInt64) throws -> Ledger {
        var options = Ledger.Options()
        options.segmentByteCount = 4_096
        return try Ledger(storage: disk.storage(), options: options, seed: seed)
    }

    private func apply(_ records: [StoreRecord], to ledger: Ledger, _ id: StoreID) throws {
        let answer = try ledger.apply(
            SyncRequest(replica: ReplicaID(rawValue: 1), since: nil, changes: records), to: id, now: Self.now)
        #expect(answer.rejections.isEmpty)
    }

    private func filler(_ number: UInt64) -> StoreRecord {
        StoreRecord(
            key: "filler \(number)", stamp: StoreStamp(milliseconds: 1, counter: 0, replica: ReplicaID(rawValue: 1)),
            content: .value(Data(count: 200)))
    }

    private func facts(_ ledger: Ledger) -> [StoreID: [StoreKey: SequencedRecord]] {
        ledger.allStores.reduce(into: [:]) { $0[$1] = ledger.hub($1)?.entries }
    }

    @Test("compaction keeps a value whose removal was lost, although it was forgotten afterwards")
    func lostRemoval() throws {
        let disk = SimulatedDisk()
        let log = SegmentedLog.over(disk.storage(), segmentByteCount: 4_096, isShared: false)
        _ = try log.openReading()
        let id = StoreID(account: "a", name: "s")
        let stamp = StoreStamp(milliseconds: 1, counter: 0, replica: ReplicaID(rawValue: 1))
        let record = StoreRecord(key: "kept", stamp: stamp, content: .value(Data("v".utf8)))
        let epochs = [Hub.Epoch(id: "e", start: 0)]
        let entries: [LedgerEntry] = [
            .state(id, Hub.State(epochs: epochs, sequence: 2, horizon: 2)),
            .record(id, SequencedRecord(record: record, sequence: 1)), .forgotten(id, "kept"),
        ]
        try log.append(entries.map(\.payload))
        try log.close()
        let first = try ledger(disk, seed: 1)
        let before = facts(first)
        #expect(before[id]?["kept"]?.record == record)
        while disk.segments.first == 1 {
            try apply([filler(first.hub(id)!.sequence)], to: first, id)
            try first.compactStep()
            try first.sync()
        }
        #expect(try ledger(disk.copy(), seed: 2).hub(id)?.entries["kept"]?.record == record)
    }

    @Test("a segment in which bytes have changed since the log was opened is not removed")
    func changedBytes() throws {
        let disk = SimulatedDisk()
        let first = try ledger(disk, seed: 1)
        let id = StoreID(account: "a", name: "s")
        let stamp = StoreStamp(milliseconds: 1, counter: 0, replica: ReplicaID(rawValue: 1))
        for index in 0..<200 {
            let value = StoreRecord.Content.value(Data(count: 40))
            try apply([StoreRecord(key: "key \(index)", stamp: stamp, content: value)], to: first, id)
        }
        try first.sync()
        disk.damage(1, at: 2_000) { $0 ^ 1 }
        #expect(throws: LogError.self) {
            for _ in 0..<4 {
                try first.compactStep()
                try first.sync()
            }
        }
        #expect(disk.segments.first == 1)
    }

    @Test("moving every segment to the end preserves each store byte for byte")
    func roundAfterRound() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let disk = SimulatedDisk()
        let first = try ledger(disk, seed: 1)
        let stores = ["", "Größe", "s"].map { StoreID(account: "a" + $0, name: "s" + $0) }
        for counter in 1...600 {
            let value = Data((0..<Int.random(in: 0...90, using: &random)).map { UInt8($0) })
            let isRemoved = Int.random(in: 0..<5, using: &random) == 0
            let record = StoreRecord(
                key: "key \(Int.random(in: 0..<60, using: &random)) é",
                stamp: StoreStamp(milliseconds: Self.now, counter: UInt32(counter), replica: ReplicaID(rawValue: 1)),
                content: isRemoved ? .tombstone : .value(value))
            try apply([record], to: first, stores.randomElement(using: &random)!)
        }
        let before = facts(first)
        let states = first.allStores.map { first.hub($0)?.state }
        let segmentCount = try disk.storage().segments().count
        #expect(segmentCount > 4, "seed \(seed)")

        for _ in 0..<6 * segmentCount {
            try first.compactStep()
            try first.sync()
        }
        #expect(facts(first) == before, "seed \(seed)")
        #expect(try disk.storage().segments().count < segmentCount, "seed \(seed)")
        try first.close()

        let second = try ledger(disk, seed: 2)
        #expect(second.recovery.damage.isEmpty)
        #expect(facts(second) == before, "seed \(seed)")
        #expect(second.allStores.map { second.hub($0)?.state } == states, "seed \(seed)")
    }
}
