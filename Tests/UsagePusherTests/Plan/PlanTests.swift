import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("When to push")
struct PlanTests {
    @Test("it begins with a read of everything and a push")
    func start() throws {
        var world = PlanWorld()
        try world.run(until: .zero)
        #expect(world.pushes == [.init(at: .zero, reason: .change, percent: 0, succeeded: true)])
    }

    @Test("a change after a quiet time is pushed after the settling time")
    func quick() throws {
        var world = PlanWorld()
        world.changes = [(.seconds(10), 5)]
        try world.run(until: .seconds(20))
        #expect(world.pushes.map(\.at) == [.zero, .milliseconds(10_100)])
        #expect(world.pushes.last?.percent == 5)
    }

    @Test("a line that says nothing does not hold up the one that does")
    func silentLineFirst() throws {
        var world = PlanWorld()
        world.changes = [(.seconds(10), 0), (.milliseconds(10_150), 5)]
        try world.run(until: .seconds(20))
        #expect(world.pushes.last?.at == .milliseconds(10_350))
        #expect(world.pushes.last?.percent == 5)
    }

    @Test("a burst is one push a second")
    func burst() throws {
        var world = PlanWorld()
        world.changes = (0..<500).map { (.milliseconds(10_000 + 10 * $0), Double($0)) }
        try world.run(until: .seconds(30))
        let during = world.pushes.dropFirst()
        #expect((5...7).contains(during.count))
        #expect(zip(during, during.dropFirst()).allSatisfy { $1.at - $0.at >= .seconds(1) })
        #expect(world.pushes.last?.percent == 499)
    }

    @Test("files that change without anything to see push nothing")
    func invisible() throws {
        var world = PlanWorld()
        world.percent = 10
        world.changes = (1...90).map { (.seconds($0), 10.05) }
        try world.run(until: .seconds(99))
        #expect(world.pushes.count == 1)
        #expect(world.readCount > 50)
    }

    @Test("a heartbeat goes out when it is due, counted from the last push")
    func heartbeat() throws {
        var world = PlanWorld()
        world.changes = [(.seconds(30), 5)]
        try world.run(until: .seconds(300))
        #expect(
            world.pushes.map(\.at)
                == [.zero, .milliseconds(30_100), .milliseconds(130_100), .milliseconds(230_100)])
        #expect(world.pushes.map(\.reason) == [.change, .change, .heartbeat, .heartbeat])
    }

    @Test("a heartbeat that finds something new is a change")
    func missedChange() throws {
        var world = PlanWorld()
        try world.run(until: .seconds(50))
        world.percent = 7
        try world.run(until: .seconds(150))
        #expect(world.pushes.last?.reason == .change)
        #expect(world.pushes.last?.at == .seconds(100))
    }

    @Test("without providers nothing is pushed, and a look is taken at every heartbeat")
    func nothing() throws {
        var world = PlanWorld()
        world.percent = nil
        try world.run(until: .seconds(350))
        #expect(world.pushes.isEmpty)
        #expect(world.readCount == 4)
        world.percent = 3
        try world.run(until: .seconds(401))
        #expect(world.pushes.map(\.percent) == [3])
    }

    @Test("when the last provider vanishes, what is stored stays")
    func vanished() throws {
        var world = PlanWorld()
        world.changes = [(.seconds(10), nil)]
        try world.run(until: .seconds(500))
        #expect(world.pushes.count == 1)
    }

    @Test("a failed push is tried again, ever later, with what is new by then")
    func retries() throws {
        var world = PlanWorld()
        world.pushSucceeds = { $0 > .seconds(20) }
        world.changes = [(.seconds(12), 9)]
        try world.run(until: .seconds(60))
        #expect(
            world.pushes.map(\.at)
                == [.zero, .seconds(2), .seconds(6), .seconds(14), .seconds(30)])
        #expect(world.pushes.map(\.percent) == [0, 0, 0, 9, 9])
        #expect(world.pushes.last?.succeeded == true)
    }

    @Test("tries are never further apart than the limit, however long it fails")
    func retryLimit() throws {
        var world = PlanWorld()
        world.pushSucceeds = { _ in false }
        try world.run(until: .seconds(7_200))
        let gaps = zip(world.pushes, world.pushes.dropFirst()).map { $1.at - $0.at }
        #expect(gaps.max() == .seconds(60))
    }

    @Test("a read that takes long is followed by a rest")
    func slowReads() throws {
        var world = PlanWorld()
        world.readTime = { .seconds(2) }
        world.changes = (0..<6_000).map { (.milliseconds(10 * $0), Double($0)) }
        try world.run(until: .seconds(70))
        #expect(world.readCount <= 7)
    }
}
