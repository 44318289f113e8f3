import Foundation
import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger
@testable import KVStoreLog

@Suite("Steps of compaction")
struct BoundedCompactionTests {
    /// A disk with a log in which less than half is live.
    private func grown(seed: UInt64) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        var bench = try CompactionBench(disk, seed: seed)
        while try bench.storage.segments().count < 8 { try bench.write() }
        try bench.ledger.close()
        return disk
    }

    @Test("a step examines a bounded number of bytes and syncs nothing")
    func bounded() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let bench = try CompactionBench(grown(seed: seed), seed: seed)
        let ledger = bench.ledger
        let bound = CompactionBench.stepByteCount + CompactionBench.frameByteCount
        var steps = 0
        for _ in 0..<200 {
            let (segment, emptied) = (ledger.log.segments[0], ledger.compaction.emptied.count)
            let before = ledger.compaction.position?.offset ?? SegmentHeader.byteCount
            let (syncs, segments) = (bench.storage.count(of: .sync), ledger.log.segments.count)
            let end = ledger.log.end
            try ledger.compactStep()
            if ledger.log.end.segment == end.segment {
                #expect(ledger.log.end.offset - end.offset <= bound, "seed \(seed)")
                #expect(bench.storage.count(of: .sync) == syncs, "seed \(seed)")
            }
            guard ledger.log.segments[0] == segment else { continue }
            if let place = ledger.compaction.position {
                #expect(place.offset > before && place.offset - before <= bound, "seed \(seed)")
            } else {
                #expect(ledger.compaction.emptied.count == emptied + 1, "seed \(seed)")
            }
            #expect(ledger.log.segments.count >= segments, "seed \(seed)")
            steps += 1
        }
        #expect(steps > 3 * 8, "seed \(seed)")
    }

    @Test("steps end without a sync, and a segment is removed once what was moved out of it is durable")
    func removal() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let bench = try CompactionBench(grown(seed: seed), seed: seed)
        var rounds = 0
        while bench.ledger.isCompactionDue {
            while bench.ledger.isCompactionDue {
                let oldest = bench.ledger.log.segments[0]
                let emptied = bench.ledger.compaction.emptied.first
                try bench.ledger.compactStep()
                guard bench.ledger.log.segments[0] != oldest else { continue }
                #expect(emptied?.segment == oldest, "seed \(seed)")
                #expect(try bench.ledger.log.isDurable(before: #require(emptied).end), "seed \(seed)")
            }
            try bench.ledger.sync()
            rounds += 1
        }
        #expect(rounds > 0 && rounds < 20, "seed \(seed)")
        #expect(bench.storage.disk.segments.count <= 5, "seed \(seed)")
    }

    @Test("compaction keeps pace with writes of half as many bytes as its steps examine")
    func pace() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(SimulatedDisk(), seed: seed)
        var largest = 0
        for _ in 0..<2_000 {
            try bench.write()
            try bench.ledger.sync()
            if bench.ledger.isCompactionDue { try bench.ledger.compactStep() }
            largest = max(largest, bench.ledger.log.segments.count)
        }
        #expect(largest <= 12, "seed \(seed)")
    }

    @Test("a restart finds whatever is written, removed and forgotten between the steps", arguments: 0..<4)
    func between(_: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(grown(seed: seed), seed: seed)
        var synced = CompactionBench.Facts(bench.ledger)
        for step in 0..<120 {
            if Bool.random(using: &bench.random) { try bench.write() }
            if Int.random(in: 0..<20, using: &bench.random) == 0 { try bench.forget() }
            if Int.random(in: 0..<3, using: &bench.random) == 0 {
                try bench.ledger.sync()
                synced = CompactionBench.Facts(bench.ledger)
            }
            try bench.ledger.compactStep()
            try expect(bench.storage.disk, has: synced, "seed \(seed), step \(step), after a kill")
            let left = bench.storage.disk.afterPowerFailure(using: &bench.random)
            try expect(left, has: synced, "seed \(seed), step \(step), after a power failure")
        }
    }

    /// Everything synced, or something later, was found, and no tombstone was forgotten without raising the horizon.
    private func expect(_ disk: SimulatedDisk, has synced: CompactionBench.Facts, _ place: Comment) throws {
        let found = try CompactionBench.found(on: disk)
        for (id, entries) in synced.entries {
            let state = try #require(found.states[id], place)
            let last = try #require(synced.states[id]?.sequence)
            #expect(state.sequence >= last, place)
            for (key, entry) in entries {
                let present = found.entries[id]?[key]?.sequence ?? state.horizon
                #expect(present >= entry.sequence, place)
            }
            for (key, entry) in found.entries[id] ?? [:] where entries[key] == nil {
                #expect(entry.sequence > last, place)
            }
        }
    }

    @Test(
        "a process killed at any call during compaction loses nothing",
        arguments: [FaultPlan.Call.open, .create, .remove, .read, .write, .sync])
    func killed(call: FaultPlan.Call) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let disk = try grown(seed: seed)
        var number = 1
        while true {
            var bench = try CompactionBench(disk.copy(), seed: seed)
            try bench.write()
            try bench.ledger.sync()
            let before = CompactionBench.Facts(bench.ledger)
            let fault: FaultPlan.Fault =
                call == .write ? .kill(after: Int.random(in: 0..<600, using: &bench.random)) : .fail(5)
            bench.storage.aim(fault, at: call, number: number)
            do {
                for _ in 0..<12 {
                    for _ in 0..<10 { try bench.ledger.compactStep() }
                    try bench.ledger.sync()
                }
                break
            } catch {
                bench.storage.kill()
            }
            let found = try CompactionBench.found(on: bench.storage.disk)
            #expect(found.entries == before.entries, "seed \(seed), call \(number)")
            number += 1
        }
        #expect(number > 1, "seed \(seed): no call was hit")
    }

    @Test("a step that cannot write changes nothing, and the next one repeats it")
    func failedWrite() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(grown(seed: seed), seed: seed)
        var failures = 0
        for step in 0..<300 {
            let place = bench.ledger.compaction.position
            bench.storage.aim(.fail(28), at: .create)
            do {
                try bench.ledger.compactStep()
            } catch {
                failures += 1
                #expect(bench.ledger.compaction.position == place, "seed \(seed), step \(step)")
            }
            bench.storage.heal()
            try bench.write()
            try bench.ledger.sync()
            try bench.ledger.compactStep()
            #expect(
                try CompactionBench.found(on: bench.storage.disk)
                    == CompactionBench.Facts(bench.ledger), "seed \(seed), step \(step)")
        }
        #expect(failures > 3, "seed \(seed)")
    }
}
