import Foundation
import KVStoreTesting
import Testing

/// Seeds of the simulated world, run with the product's replica, log and ledger.
@Suite("Simulated world")
struct WorldTests {
    /// Seeds that once broke a promise, and which.
    private static let regressions: [UInt64] = [
        22,  // a full download judged keys that settled while it was under way
        72, 131,  // what a request brought did not count as seen
        324,  // a removal that the daemon had forgotten outlived a key that began anew
        3_900,  // the cursor was written before the records that it covers
        5_759,  // a second process trusted a disk whose sync had failed
    ]

    @Test("every seed that ever failed holds", arguments: regressions)
    func regression(seed: UInt64) throws {
        try World(seed: seed).run()
    }

    @Test("fixed seeds hold")
    func fixedSeeds() throws {
        for seed in 1...UInt64(60) { try World(seed: seed).run() }
    }

    @Test("a seed gives the same trace every time")
    func sameTrace() throws {
        for seed in [7, 77, 777] as [UInt64] {
            let worlds = [World(seed: seed), World(seed: seed)]
            for world in worlds { try world.run() }
            #expect(worlds[0].traceDigest == worlds[1].traceDigest)
        }
    }

    @Test("fresh seeds hold; the one that fails is printed")
    func freshSeeds() throws {
        let first = UInt64.random(in: 1...UInt64(UInt32.max))
        print("fresh seeds from \(first)")
        for seed in first..<first + 40 { try World(seed: seed).run() }
    }
}
