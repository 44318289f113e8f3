import Foundation
import KVStoreTesting
import Testing
import UsageState

/// Several machines that warn, in simulated worlds; the argument of a failing test is its seed.
@Suite("Which machine warns", .timeLimit(.minutes(5)))
struct WhoWarnsTests {
    /// For three machines to wait for each other.
    private let patience = 3 * AlertWatch.grace + 60

    @Test("while all are connected each alert is delivered once, by one", arguments: 1...3)
    func once(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        try await world.run(minutes: 110)
        #expect(world.expected.count > 5, "the world must have something to say")
        #expect(world.repetitions == [], "\(world.report)")
        #expect(world.missing(delay: 60) == [], "\(world.report)")
        #expect(Set(world.deliveries.map(\.machine)) == [world.leader.id])
    }

    @Test("with slow and reordered messages each is still delivered once", arguments: 1...3)
    func slow(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        for machine in world.machines {
            machine.device.isReordering = true
            machine.device.delay = .seconds(Int.random(in: 0...10, using: &world.random))
        }
        try await world.run(minutes: 100)
        #expect(world.repetitions == [], "\(world.report)")
        #expect(world.missing(delay: patience) == [], "\(world.report)")
    }

    @Test("clocks that are wrong delay alerts, and repeat none", arguments: 1...3)
    func clocks(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        for machine in world.machines {
            machine.device.clockError = .seconds(
                [-7_200, -300, -20, 0, 20, 300].randomElement(using: &world.random) ?? 0)
        }
        // One machine knows the time.
        world.machines.randomElement(using: &world.random)?.device.clockError = .zero
        try await world.run(minutes: 100)
        #expect(world.repetitions == [], "\(world.report)")
        #expect(world.missing(delay: patience) == [], "\(world.report)")
    }

    @Test("when the one that warns is lost at any moment, another does", arguments: 1...5)
    func loss(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        let moment = Double.random(in: 600...4_200, using: &world.random)
        let leader = world.leader
        // Also between its decision to deliver and the delivery.
        world.beforeDelivery = { machine in
            guard machine === leader, world.seconds >= moment else { return }
            machine.isAlive = false
            machine.device.isOffline = true
        }
        try await world.run(minutes: 110)
        #expect(!leader.isAlive)
        #expect(world.missing(delay: patience) == [], "\(world.report)")
        #expect(world.repetitions == [], "\(world.report)")
        // Known to be gone, it is no longer waited for.
        let others = world.deliveries.filter { $0.at > moment + 1_200 }
        let late = others.filter { delivery in
            !world.expected.contains { delivery.mark.covers($0.alert.mark) && delivery.at <= $0.at + 60 }
        }
        #expect(late.isEmpty, "\(late)")
    }

    @Test("when the only other one is lost, the last one warns", arguments: 1...2)
    func last(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed, pushing: [true, true])
        let lost = world.machines.randomElement(using: &world.random)
        try await world.run(minutes: 100) { seconds in
            guard seconds > 1_800 else { return }
            lost?.isAlive = false
        }
        #expect(world.missing(delay: patience) == [], "\(world.report)")
        #expect(world.repetitions == [], "\(world.report)")
    }

    @Test("a machine that is killed and starts again repeats nothing", arguments: 1...3)
    func restarts(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        var next = 900.0
        try await world.run(minutes: 110) { seconds in
            guard seconds >= next else { return }
            next = seconds + Double.random(in: 300...900, using: &world.random)
            try world.machines.randomElement(using: &world.random)?.restart()
        }
        #expect(world.repetitions == [], "\(world.report)")
        #expect(world.missing(delay: patience) == [], "\(world.report)")
    }

    @Test("a machine that was offline does not repeat what it then reads", arguments: 1...3)
    func offline(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        let machine = world.machines.randomElement(using: &world.random)
        try await world.run(minutes: 110) { seconds in machine?.device.isOffline = (1_800..<4_800).contains(seconds) }
        // What happens offline is not seen by it, but for resets, which need no messages.
        let repeated = world.repetitions.filter { !$0.contains("level: 0, observed: 0") }
        #expect(repeated == [], "\(world.report)")
        #expect(world.missing(delay: patience) == [], "\(world.report)")
    }

    @Test("what quiet hours hold is said once after them, in one summary", arguments: 1...2)
    func quiet(seed: UInt64) async throws {
        let world = try AlertWorld(seed: seed)
        // The world begins at noon.
        for machine in world.machines { machine.quiet = QuietHours("12:20-13:10") }
        try await world.run(minutes: 100)
        let within = world.deliveries.filter { (1_200..<4_200).contains($0.at) }
        #expect(within.isEmpty, "\(world.report)")
        let summary = world.deliveries.filter { $0.kind == .summary }
        #expect(Set(summary.map(\.at)).count == 1, "\(world.report)")
        #expect(Set(summary.map(\.machine)) == [world.leader.id])
        #expect(world.repetitions == [], "\(world.report)")
        #expect(world.missing(delay: 3_700) == [], "\(world.report)")
    }

    @Test("one machine alone writes only when it warns, and pushes are signs of life")
    func writes() async throws {
        let alone = try AlertWorld(seed: 1, pushing: [false])
        try await alone.run(minutes: 120)
        #expect(alone.machines[0].noticeCount == Set(alone.deliveries.map(\.at)).count + 1)
        let both = try AlertWorld(seed: 1, pushing: [true, false])
        try await both.run(minutes: 120)
        let (pushing, silent) = (both.machines[0], both.machines[1])
        let deliveryCount = Set(both.deliveries.map(\.at)).count
        #expect(pushing.noticeCount <= deliveryCount + 1)
        // One in five minutes.
        #expect((20...(26 + deliveryCount)).contains(silent.noticeCount), "\(silent.noticeCount)")
    }
}
