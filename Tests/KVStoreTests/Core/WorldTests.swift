import Testing

@testable import KVStore

@Suite("Three replicas and a bad network")
struct WorldTests {
    private func world(_ seed: UInt64, skew: Int64, steps: Int = 600) -> SimulatedWorld {
        var world = SimulatedWorld(seed: seed, greatestSkew: skew)
        for _ in 0..<steps { world.step() }
        world.settle()
        return world
    }

    private func expectConverged(_ world: SimulatedWorld, _ seed: UInt64) {
        for (index, device) in world.devices.enumerated() {
            #expect(
                device.replica.visibleContents == world.daemon.values,
                "seed \(seed), replica \(index)")
            #expect(device.replica.pendingKeys == [], "seed \(seed), replica \(index)")
            #expect(
                device.believed.filter { $0.value != .tombstone } == world.daemon.values,
                "seed \(seed), replica \(index): not everything was told")
        }
    }

    @Test(
        "all replicas end with the daemon's values, everything was told, and no write is lost",
        arguments: 1...60)
    func converge(seed: UInt64) {
        let world = world(seed, skew: 0)
        expectConverged(world, seed)
        for record in world.written {
            let final = world.daemon.records[record.key]?.record
            #expect(
                final.map { $0 == record || $0.supersedes(record) } == true,
                "seed \(seed): \(record.words) is lost")
        }
    }

    @Test("they do so too where the clocks are wrong by days", arguments: 1...40)
    func wrongClocks(seed: UInt64) {
        let world = world(seed, skew: 300_000_000)
        expectConverged(world, seed)
        // No stamp stays in the future.
        for (record, _) in world.daemon.records.values {
            #expect(record.stamp.milliseconds <= world.time + 60_000)
        }
    }

    @Test("one seed gives one world")
    func determinism() {
        let first = world(7, skew: 1_000, steps: 300)
        let second = world(7, skew: 1_000, steps: 300)
        #expect(first.devices.map(\.replica) == second.devices.map(\.replica))
        #expect(first.devices.map(\.log) == second.devices.map(\.log))
    }
}
