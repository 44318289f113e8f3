import Foundation
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

/// Three machines whose messages are lost and late, beside a model that is written anew.
@Suite("The gate over random histories")
struct GateHistoryTests {
    private struct Reading {
        var used: Double
        var observedAt: Double
        var resetsAt: Double
        var isEstimate: Bool
    }

    /// What one machine knows, by the machine that has read it.
    private struct Machine {
        var known: [Int: Reading] = [:]
        /// With the times at which they arrive.
        var underway: [(time: Double, from: Int, reading: Reading)] = []

        mutating func receive(at now: Double) {
            for message in underway where message.time <= now {
                let isNewer = (known[message.from]?.observedAt ?? 0) < message.reading.observedAt
                if isNewer { known[message.from] = message.reading }
            }
            underway.removeAll { $0.time <= now }
        }

        var newest: Reading? { known.values.max { $0.observedAt < $1.observedAt } }
    }

    @Test("no call is refused without a fresh reading that says so, and none is allowed after one", arguments: 0..<50)
    func histories(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let threshold = Double.random(in: 20...99, using: &random).rounded()
        let rules = GateRules([GateRule(provider: "claude", .used(percent: threshold), then: .stop)])
        var now = 1_789_732_800.0
        // The account has one window at a time.
        var resets = [now]
        while resets[resets.count - 1] < now + 400_000 {
            resets.append(resets[resets.count - 1] + Double.random(in: 3_000...18_000, using: &random).rounded())
        }
        var machines = [Machine](repeating: Machine(), count: 3)
        var refused = 0
        for _ in 0..<200 {
            now += Double.random(in: 1...1_800, using: &random)
            if Int.random(in: 0..<3, using: &random) > 0 {
                let source = Int.random(in: 0..<3, using: &random)
                let observedAt = (now + Double.random(in: -5_000...0, using: &random)).rounded()
                let reading = Reading(
                    used: Double.random(in: 0...110, using: &random).rounded(), observedAt: observedAt,
                    resetsAt: resets.first { $0 > observedAt } ?? 0,
                    isEstimate: Int.random(in: 0..<8, using: &random) == 0)
                for index in machines.indices where index == source || Int.random(in: 0..<4, using: &random) > 0 {
                    let delay = index == source ? 0 : Double.random(in: 0...600, using: &random)
                    machines[index].underway.append((now + delay, source, reading))
                }
            }
            let index = Int.random(in: 0..<3, using: &random)
            machines[index].receive(at: now)
            let machine = machines[index]
            let says = machine.newest.map { reading in
                !reading.isEstimate && reading.used >= threshold && reading.resetsAt > now
                    && now - reading.observedAt <= 3_600
            }
            let time = Date(timeIntervalSince1970: now)
            let decision = GateDecision(
                Self.usage(machine, now: time), own: rules, GateRequest(provider: "claude", madeAt: time), now: time)
            #expect(
                (decision.action == .stop) == (says ?? false), "seed \(seed): \(machine.known) at \(now)")
            #expect((decision.action == nil) == (decision.reason != nil))
            refused += decision.action == .stop ? 1 : 0
        }
        #expect(refused > 0, "seed \(seed) refuses nothing")
    }

    /// Through the file, as the hook has it.
    private static func usage(_ machine: Machine, now: Date) -> GateUsage {
        let snapshots = machine.known.map { index, reading in
            let provider = ProviderUsageSnapshot(
                providerID: "claude", providerName: "Claude",
                lastUpdated: Date(timeIntervalSince1970: reading.observedAt),
                rateWindows: [
                    SyncRateWindow(
                        usedPercent: reading.used, windowMinutes: 300,
                        resetsAt: Date(timeIntervalSince1970: reading.resetsAt))
                ], usageDataConfidence: reading.isEstimate ? "estimated" : nil)
            return SyncedUsageSnapshot(
                providers: [provider], syncTimestamp: now, deviceName: "m\(index)", deviceID: "d\(index)")
        }
        let data = UsageData(link: .online, stored: .usage(SnapshotMerge.merge(snapshots, now: now)))
        return GateUsage(reading: GateUsage(data, now: now).data)
    }
}
