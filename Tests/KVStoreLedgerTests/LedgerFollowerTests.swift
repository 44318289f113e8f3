import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("A log that is followed")
struct LedgerFollowerTests {
    /// A copy of what a follower reads, written piece by piece.
    private struct Copy {
        let disk = SimulatedDisk()
        let writer: LedgerWriter
        var hubs: [StoreID: Hub] = [:]

        init() throws { writer = try LedgerWriter(storage: disk.storage()) }

        mutating func write(_ changed: Set<StoreID>, from follower: LedgerFollower) throws {
            for id in changed {
                let store = try #require(follower.store(id))
                try writer.append(store, over: hubs[id])
                hubs[id] = store.hub
            }
            try writer.flush()
        }
    }

    @Test("its follower and a copy have all that its daemon has, through removal, forgetting, compaction and recovery")
    func following() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let disk = SimulatedDisk()
        let follower = LedgerFollower(disk.storage())
        var copy = try Copy()
        for life in 0..<4 {
            var bench = try CompactionBench(disk, seed: seed &+ UInt64(life))
            for _ in 0..<150 {
                switch Int.random(in: 0..<16, using: &bench.random) {
                case 0: try bench.forget()
                case 1: try bench.loseSync()
                case 2, 3, 4: try bench.ledger.compactStep()
                case 5, 6: try bench.ledger.sync()
                case 7: _ = try bench.ledger.remove(StoreID(account: "a", name: "s0"))
                case 8: try copy.write(try follower.readOn(), from: follower)
                default: try bench.write()
                }
            }
            try bench.ledger.close()
            try copy.write(try follower.readOn(), from: follower)
            #expect(try follower.isAtEnd, "seed \(seed)")
            let expected = try CompactionBench.found(on: disk)
            #expect(try CompactionBench.found(on: copy.disk) == expected, "seed \(seed)")
            for (id, entries) in expected.entries {
                #expect(follower.store(id)?.hub.entries == entries, "seed \(seed)")
            }
        }
    }

    @Test("what a killed daemon has left at its end, and another log, are not its end")
    func end() throws {
        let disk = SimulatedDisk()
        let follower = LedgerFollower(disk.storage())
        var bench = try CompactionBench(disk, seed: 1)
        try bench.write()
        try bench.ledger.sync()
        #expect(try follower.readOn().count == 1)
        #expect(try follower.isAtEnd)
        let segment = try #require(disk.segments.last)
        let last = try #require(disk.lastByte(of: segment))
        disk.damage(segment, at: last + 64) { _ in 1 }
        #expect(try !follower.isAtEnd)
        disk.damage(segment, at: last + 64) { _ in 0 }
        #expect(try follower.isAtEnd)
        let other = SimulatedDisk()
        var second = try CompactionBench(other, seed: 2)
        try second.write()
        try second.ledger.sync()
        disk.restore(other.snapshot())
        #expect(try !follower.isAtEnd)
    }
}
