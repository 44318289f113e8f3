import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreLedger

@Suite("Recovery from a failed sync")
struct LedgerRecoveryTests {
    @Test("what a ledger holds after it is durable, whatever fails and whatever the disk has kept")
    func recovers() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var bench = try CompactionBench(SimulatedDisk(), seed: seed)
        var recoveries = 0
        for step in 0..<400 {
            switch Int.random(in: 0..<8, using: &bench.random) {
            case 0:
                bench.storage.aim(.losePages, at: .sync)
                if Bool.random(using: &bench.random) { bench.storage.aim(.tear(nil), at: .create) }
            case 1: bench.storage.aim(.tear(nil), at: .write)
            case 2: try? bench.forget()
            default: break
            }
            do {
                try bench.write()
                try bench.ledger.compactStep()
                try bench.ledger.sync()
                continue
            } catch {
                while true {
                    do {
                        try bench.ledger.recover()
                        break
                    } catch { continue }
                }
            }
            bench.storage.heal()
            recoveries += 1
            #expect(bench.ledger.isDurable, "seed \(seed), step \(step)")
            let present = CompactionBench.Facts(bench.ledger)
            for id in bench.ledger.allStores {
                #expect(bench.ledger.durableSequence(of: id) == present.states[id]?.sequence)
            }
            let left = bench.storage.disk.afterPowerFailure(using: &bench.random)
            let found = try CompactionBench.found(on: left)
            #expect(found.entries == present.entries, "seed \(seed), step \(step)")
        }
        #expect(recoveries > 20, "seed \(seed)")
    }
}
