import Foundation
import Testing

@testable import KVStore

@Suite("Compaction of the daemon's log")
struct LedgerCompactionTests {
    private static let now: Int64 = 1_800_000_000_000

    private func ledger(_ disk: MemoryDisk, seed: UInt64) throws -> HubLedger {
        var options = HubLedger.Options()
        options.segmentByteCount = 4_096
        return try HubLedger(storage: MemoryLogStorage(disk), options: options, seed: seed)
    }

    private func apply(
        _ records: [Record], to ledger: HubLedger, _ id: StoreID
    ) throws {
        let answer = try ledger.apply(
            SyncRequest(
                replica: "1", epoch: nil, since: 0, changes: records.map { SyncChange($0) }),
            to: id, now: Self.now)
        #expect(answer.rejected.isEmpty)
    }

    private func facts(_ ledger: HubLedger) -> [StoreID: [String: Hub.Entry]] {
        ledger.allStores.reduce(into: [:]) { $0[$1] = ledger.hub($1)?.entries }
    }

    @Test("moving every segment to the end keeps each store as it was, byte for byte")
    func roundAfterRound() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let disk = MemoryDisk()
        let first = try ledger(disk, seed: 1)
        let stores = ["", "Größe", "s"].map { StoreID(account: "a" + $0, name: "s" + $0) }
        for counter in 1...600 {
            let value = Data((0..<Int.random(in: 0...90, using: &random)).map { UInt8($0) })
            let isRemoved = Int.random(in: 0..<5, using: &random) == 0
            let record = Record(
                key: "key \(Int.random(in: 0..<60, using: &random)) é",
                stamp: Stamp(
                    milliseconds: Self.now, counter: UInt32(counter),
                    replica: ReplicaID(rawValue: 1)),
                content: isRemoved ? .tombstone : .value(value))
            try apply([record], to: first, stores.randomElement(using: &random)!)
        }
        let before = facts(first)
        let states = first.allStores.map { first.hub($0).map(HubEntry.State.init) }
        let segmentCount = try MemoryLogStorage(disk).segments().count
        #expect(segmentCount > 4, "seed \(seed)")

        for _ in 0..<6 * segmentCount {
            try first.compactStep()
            try first.sync()
        }
        #expect(facts(first) == before, "seed \(seed)")
        #expect(try MemoryLogStorage(disk).segments().count < segmentCount, "seed \(seed)")
        try first.close()

        let second = try ledger(disk, seed: 2)
        #expect(second.recovery.damage.isEmpty)
        #expect(facts(second) == before, "seed \(seed)")
        #expect(
            second.allStores.map { second.hub($0).map(HubEntry.State.init) } == states,
            "seed \(seed)")
    }
}
