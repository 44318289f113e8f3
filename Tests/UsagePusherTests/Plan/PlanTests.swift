import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Push plan")
struct PlanTests {
    @Test("a plan begins by reading all sources and pushing")
    func start() throws {
        var simulation = PlanSimulation()
        try simulation.run(until: .zero)
        #expect(simulation.pushes == [.init(at: .zero, reason: .change, percent: 0, succeeded: true)])
    }

    @Test("a change after a quiet time is read and pushed at once")
    func quick() throws {
        var simulation = PlanSimulation()
        simulation.changes = [(.seconds(10), 5)]
        try simulation.run(until: .seconds(20))
        #expect(simulation.pushes.map(\.at) == [.zero, .seconds(10)])
        #expect(simulation.pushes.last?.percent == 5)
    }

    @Test("what follows a push within 100 ms is gathered into one more")
    func gathered() throws {
        var simulation = PlanSimulation()
        simulation.changes = (0..<9).map { (.milliseconds(10_000 + 10 * $0), Double($0 + 1)) }
        try simulation.run(until: .seconds(20))
        #expect(simulation.pushes.map(\.at) == [.zero, .seconds(10), .milliseconds(10_100)])
        #expect(simulation.pushes.map(\.percent) == [0, 1, 9])
    }

    @Test(
        "the rest of an incomplete line, or the line after an irrelevant one, is pushed at once", arguments: [1, 150])
    func completedLine(milliseconds: Int) throws {
        var simulation = PlanSimulation()
        let completion = Duration.milliseconds(10_000 + milliseconds)
        simulation.changes = [(.seconds(10), 0), (completion, 5)]
        try simulation.run(until: .seconds(20))
        #expect(simulation.pushes.last?.at == completion)
        #expect(simulation.pushes.last?.percent == 5)
    }

    @Test("a burst of 5 s makes at most 10 pushes, and its last line is pushed", arguments: [50, 100, 500])
    func burst(lineCount: Int) throws {
        var simulation = PlanSimulation()
        simulation.changes = (0..<lineCount).map {
            (.milliseconds(10_000 + 5_000 / lineCount * $0), Double($0 + 1))
        }
        try simulation.run(until: .seconds(30))
        let during = simulation.pushes.dropFirst()
        #expect((6...10).contains(during.count))
        #expect(during.first?.at == .seconds(10))
        #expect(during.last?.percent == Double(lineCount))
        #expect(during.last.map { $0.at <= .seconds(16) } == true)
    }

    @Test("lines without a visible difference are read at most 4 times per second")
    func invisibleBurst() throws {
        var simulation = PlanSimulation()
        simulation.changes = (0..<1_000).map { (.milliseconds(10_000 + 10 * $0), 0) }
        try simulation.run(until: .milliseconds(20_500))
        #expect(simulation.pushes.count == 1)
        #expect((40...46).contains(simulation.readCount))
    }

    @Test("changes without a visible difference push nothing")
    func invisible() throws {
        var simulation = PlanSimulation()
        simulation.percent = 10
        simulation.changes = (1...90).map { (.seconds($0), 10.05) }
        try simulation.run(until: .seconds(99))
        #expect(simulation.pushes.count == 1)
        #expect(simulation.readCount > 50)
    }

    @Test("a heartbeat follows the last push after its interval")
    func heartbeat() throws {
        var simulation = PlanSimulation()
        simulation.changes = [(.seconds(30), 5)]
        try simulation.run(until: .seconds(300))
        #expect(simulation.pushes.map(\.at) == [.zero, .seconds(30), .seconds(130), .seconds(230)])
        #expect(simulation.pushes.map(\.reason) == [.change, .change, .heartbeat, .heartbeat])
    }

    @Test("a heartbeat that finds a difference is a change")
    func missedChange() throws {
        var simulation = PlanSimulation()
        try simulation.run(until: .seconds(50))
        simulation.percent = 7
        try simulation.run(until: .seconds(150))
        #expect(simulation.pushes.last?.reason == .change)
        #expect(simulation.pushes.last?.at == .seconds(100))
    }

    @Test("without providers nothing is pushed, and every heartbeat reads again")
    func nothing() throws {
        var simulation = PlanSimulation()
        simulation.percent = nil
        try simulation.run(until: .seconds(350))
        #expect(simulation.pushes.isEmpty)
        #expect(simulation.readCount == 4)
        simulation.percent = 3
        try simulation.run(until: .seconds(401))
        #expect(simulation.pushes.map(\.percent) == [3])
    }

    @Test("when the last provider vanishes, the stored snapshot stays")
    func vanished() throws {
        var simulation = PlanSimulation()
        simulation.changes = [(.seconds(10), nil)]
        try simulation.run(until: .seconds(500))
        #expect(simulation.pushes.count == 1)
    }

    @Test("a failed push is retried with backoff and the newest snapshot")
    func retries() throws {
        var simulation = PlanSimulation()
        simulation.pushSucceeds = { $0 > .seconds(20) }
        simulation.changes = [(.seconds(12), 9)]
        try simulation.run(until: .seconds(60))
        #expect(simulation.pushes.map(\.at) == [.zero, .seconds(2), .seconds(6), .seconds(14), .seconds(30)])
        #expect(simulation.pushes.map(\.percent) == [0, 0, 0, 9, 9])
        #expect(simulation.pushes.last?.succeeded == true)
    }

    @Test("the backoff is bounded")
    func retryLimit() throws {
        var simulation = PlanSimulation()
        simulation.pushSucceeds = { _ in false }
        try simulation.run(until: .seconds(7_200))
        let gaps = zip(simulation.pushes, simulation.pushes.dropFirst()).map { $1.at - $0.at }
        #expect(gaps.max() == .seconds(60))
    }

    @Test("a long read is followed by a rest")
    func slowReads() throws {
        var simulation = PlanSimulation()
        simulation.readTime = { .seconds(2) }
        simulation.changes = (0..<6_000).map { (.milliseconds(10 * $0), Double($0)) }
        try simulation.run(until: .seconds(70))
        #expect(simulation.readCount <= 7)
    }
}
