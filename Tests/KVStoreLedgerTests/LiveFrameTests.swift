import Foundation
import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger
@testable import KVStoreLog

@Suite("Live frames of segments")
struct LiveFrameTests {
    private func check(_ ledger: Ledger, _ comment: Comment) {
        let live = Set(
            ledger.stores.values.flatMap { store in
                store.positions.values.map(\.segment) + (store.statePosition.map { [$0.segment] } ?? [])
            })
        for segment in ledger.log.segments {
            #expect(ledger.liveFrames.isEmpty(segment) == !live.contains(segment), comment)
        }
    }

    @Test("a segment whose frames are all dead is removed without being read")
    func unread() throws {
        let disk = SimulatedDisk()
        let storage = disk.storage()
        let ledger = try CompactionBench.open(storage, seed: 1)
        let store = StoreID(account: "a", name: "s")
        var counter: UInt32 = 0
        while try storage.segments().count < 8 {
            counter += 1
            let stamp = StoreStamp(milliseconds: CompactionBench.now, counter: counter, replica: ReplicaID(rawValue: 1))
            let change = StoreRecord(key: "k", stamp: stamp, content: .value(Data(count: 90)))
            _ = try ledger.accept([change], to: store, now: CompactionBench.now)
        }
        // The first segment has the state of the store.
        while ledger.compaction.emptied.isEmpty { try ledger.compactStep() }
        try ledger.sync()
        let facts = CompactionBench.Facts(ledger)
        let (opens, reads) = (storage.count(of: .open), storage.count(of: .read))
        while ledger.log.segments.count > 1 {
            try ledger.compactStep()
            try ledger.sync()
        }
        #expect(storage.count(of: .open) == opens && storage.count(of: .read) == reads)
        #expect(try CompactionBench.found(on: disk) == facts)
    }

    @Test("they are counted through replay, forgetting, compaction, failed appends and recovery")
    func counted() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let disk = SimulatedDisk()
        for life in 0..<4 {
            var bench = try CompactionBench(disk, seed: seed &+ UInt64(life))
            check(bench.ledger, "seed \(seed) after replay")
            for _ in 0..<150 {
                switch Int.random(in: 0..<13, using: &bench.random) {
                case 0: try bench.forget()
                case 1:
                    bench.storage.aim(.fail(5), at: .create)
                    #expect(throws: (any Error).self) { while true { try bench.write() } }
                    bench.storage.heal()
                case 2: try bench.loseSync()
                case 3, 4: try bench.ledger.compactStep()
                case 5: try bench.ledger.sync()
                case 6: _ = try bench.ledger.remove(StoreID(account: "a", name: "s0"))
                default: try bench.write()
                }
                check(bench.ledger, "seed \(seed)")
            }
            try bench.ledger.close()
        }
    }
}
