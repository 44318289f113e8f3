import StoreTestSupport
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Push plan under random schedules")
struct PlanPropertyTests {
    private let timing = PushPlan.Timing()

    /// Single changes and bursts over ten minutes; some restore the former percent.
    private func changes(_ generator: inout SeededGenerator) -> [(at: Duration, percent: Double?)] {
        var changes: [(at: Duration, percent: Double?)] = []
        var time = Duration.zero
        while time < .seconds(600) {
            let isBurst = Bool.random(using: &generator)
            for _ in 0..<(isBurst ? Int.random(in: 2...60, using: &generator) : 1) {
                time += .milliseconds(Int.random(in: 1...(isBurst ? 120 : 900), using: &generator))
                let percent = Double(Int.random(in: 0...8, using: &generator))
                changes.append((time, percent))
            }
            time += .milliseconds(Int.random(in: 0...150_000, using: &generator))
        }
        return changes
    }

    /// No time span holds more pushes than the rate allows.
    private func expectRate(of pushes: [PlanSimulation.Push], seed: UInt64) {
        let rate = timing.pushRate
        for (index, first) in pushes.enumerated() {
            for (count, last) in zip(2..., pushes[(index + 1)...].prefix(2 * rate.burst)) {
                let least = rate.interval * max(0, count - rate.burst)
                #expect(last.at - first.at >= least, "seed \(seed)")
            }
        }
    }

    @Test("pushes keep their rate, miss nothing, and keep the heartbeat", arguments: 0..<150 as Range<UInt64>)
    func instantReads(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var simulation = PlanSimulation()
        let changes = changes(&generator)
        simulation.changes = changes
        try simulation.run(until: .seconds(900))
        expectRate(of: simulation.pushes, seed: seed)
        for (earlier, later) in zip(simulation.pushes, simulation.pushes.dropFirst()) {
            let gap = later.at - earlier.at
            #expect(gap >= timing.coalescingInterval, "seed \(seed)")
            #expect(gap <= timing.heartbeat, "seed \(seed)")
            if later.reason == .heartbeat { #expect(gap == timing.heartbeat, "seed \(seed)") }
            if later.reason == .change { #expect(earlier.percent != later.percent, "seed \(seed)") }
        }
        // A percent that stays for the longest delay of a push has been pushed by then.
        let patience = timing.pushRate.interval
        for (index, change) in changes.enumerated() {
            let end = index + 1 < changes.count ? changes[index + 1].at : .seconds(900)
            guard end - change.at > patience else { continue }
            let shown = simulation.pushes.last { $0.at <= change.at + patience }
            #expect(shown?.percent == change.percent, "seed \(seed), change at \(change.at)")
        }
    }

    @Test("the first difference after a quiet time is pushed at that very time", arguments: 0..<150 as Range<UInt64>)
    func leadingEdge(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var simulation = PlanSimulation()
        let changes = changes(&generator)
        simulation.changes = changes
        try simulation.run(until: .seconds(900))
        expectLeadingEdge(simulation, changes, seed: seed)
    }

    private func expectLeadingEdge(
        _ simulation: PlanSimulation, _ changes: [(at: Duration, percent: Double?)], seed: UInt64,
        after start: Duration = .zero
    ) {
        let quiet = timing.pushRate.interval * (timing.pushRate.burst + 1)
        for (former, change) in zip(changes, changes.dropFirst())
        where former.at > start && change.at - former.at > quiet && change.percent != former.percent {
            // Only a heartbeat of the last 100 ms may delay it.
            let push = simulation.pushes.first { $0.at >= change.at }
            let isDelayed = simulation.pushes.contains {
                $0.at < change.at && change.at - $0.at < timing.coalescingInterval
            }
            #expect(isDelayed || push?.at == change.at, "seed \(seed), change at \(change.at)")
        }
    }

    @Test("slow reads and failing pushes lose nothing", arguments: 0..<150 as Range<UInt64>)
    func failures(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var times = SeededGenerator(seed: ~seed)
        var simulation = PlanSimulation()
        simulation.changes = changes(&generator)
        let last = simulation.changes.last!
        let draws = (0..<4_096).map { _ in Int.random(in: 0...1_500, using: &times) }
        var readIndex = 0
        simulation.readTime = {
            readIndex += 1
            return .milliseconds(draws[readIndex % draws.count])
        }
        var pushIndex = 0
        simulation.pushTime = {
            pushIndex += 1
            return .milliseconds(draws[(pushIndex * 7) % draws.count])
        }
        simulation.pushSucceeds = { now in
            now > last.at || !draws[Int(now.components.seconds) % draws.count].isMultiple(of: 3)
        }
        let end = last.at + .seconds(300)
        try simulation.run(until: end)
        expectRate(of: simulation.pushes.filter(\.succeeded), seed: seed)
        let final = simulation.pushes.last { $0.succeeded }
        #expect(final?.percent == last.percent, "seed \(seed)")
        #expect(end - (final?.at ?? .zero) < timing.heartbeat + .seconds(10), "seed \(seed)")
    }

    @Test(
        "costs, however long they take, delay no limit but the first, and rest less when they are asked for",
        arguments: 0..<150 as Range<UInt64>)
    func costs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let changes = changes(&generator)
        let draws = (0..<256).map { _ in Int.random(in: 0...6_000, using: &generator) }
        var simulation = PlanSimulation()
        simulation.changes = changes
        let requests = (0..<6).map { _ in Duration.milliseconds(Int.random(in: 0...800_000, using: &generator)) }
            .sorted()
        simulation.requests = requests
        simulation.plan = PushPlan(hasCosts: true, at: .zero)
        var index = 0
        simulation.costTime = {
            index += 1
            return .milliseconds(draws[index % draws.count])
        }
        try simulation.run(until: .seconds(900))
        let first = try #require(simulation.costUpdates.first)
        #expect(simulation.pushes.first?.at == first.ended, "seed \(seed)")
        expectRate(of: simulation.pushes, seed: seed)
        expectLeadingEdge(simulation, changes, seed: seed, after: first.ended)
        for (update, next) in zip(simulation.costUpdates, simulation.costUpdates.dropFirst()) {
            let askedEnd = update.ended + (update.ended - update.began) * timing.costRestFactor
            let end = max(update.ended + timing.costInterval, askedEnd)
            let request = requests.first { $0 > update.began }.map { max($0, askedEnd) } ?? .seconds(900)
            // With a change, or else with a heartbeat.
            let change = changes.first { $0.at > update.began }.map { max($0.at, end) } ?? .seconds(900)
            #expect(next.began >= min(end, request), "seed \(seed)")
            #expect(next.began <= min(change, request), "seed \(seed)")
        }
    }
}
