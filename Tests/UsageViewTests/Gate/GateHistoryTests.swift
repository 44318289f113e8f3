import Foundation
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

/// Random histories of numbers and calls, beside a model that is written anew.
@Suite("The gate over random histories")
struct GateHistoryTests {
    private struct Reading {
        var used: Double
        var observedAt: Double
        var resetsAt: Double
        var isEstimate: Bool
    }

    @Test("no call is refused without a fresh reading that says so, and none is allowed after one", arguments: 0..<40)
    func histories(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let start = 1_789_732_800.0
        let threshold = Double.random(in: 20...99, using: &random).rounded()
        let rules = GateRules([GateRule(provider: "claude", .used(percent: threshold), then: .stop)])
        var now = start
        var known: Reading?
        var refused = 0
        for _ in 0..<250 {
            now += Double.random(in: 0...2_400, using: &random)
            // A message that is lost leaves the former reading.
            if Int.random(in: 0..<3, using: &random) > 0 {
                known = Reading(
                    used: Double.random(in: 0...110, using: &random).rounded(),
                    observedAt: now + Double.random(in: -5_000...120, using: &random),
                    resetsAt: now + Double.random(in: -600...9_000, using: &random),
                    isEstimate: Int.random(in: 0..<8, using: &random) == 0)
            }
            let says = known.map { reading in
                !reading.isEstimate && reading.used >= threshold && reading.resetsAt > now
                    && now - reading.observedAt <= 3_600 && reading.observedAt - now <= 60
            }
            let time = Date(timeIntervalSince1970: now)
            let decision = GateDecision(
                Self.usage(known, now: time), own: rules, GateRequest(provider: "claude", madeAt: time), now: time)
            #expect(
                (decision.action == .stop) == (says ?? false), "seed \(seed): \(String(describing: known)) at \(now)")
            #expect((decision.action == nil) == (decision.reason != nil))
            refused += decision.action == .stop ? 1 : 0
        }
        #expect(refused > 0, "seed \(seed) refuses nothing")
    }

    /// Through the file, as the hook has it.
    private static func usage(_ reading: Reading?, now: Date) -> GateUsage {
        guard let reading else { return GateUsage(reading: nil) }
        let provider = ProviderUsageSnapshot(
            providerID: "claude", providerName: "Claude", lastUpdated: Date(timeIntervalSince1970: reading.observedAt),
            rateWindows: [
                SyncRateWindow(
                    usedPercent: reading.used, windowMinutes: 300,
                    resetsAt: Date(timeIntervalSince1970: reading.resetsAt))
            ], usageDataConfidence: reading.isEstimate ? "estimated" : nil)
        let snapshot = SyncedUsageSnapshot(
            providers: [provider], syncTimestamp: now, deviceName: "box", deviceID: "d1")
        let data = UsageData(link: .online, stored: .usage(SnapshotMerge.merge([snapshot], now: now)))
        return GateUsage(reading: GateUsage(data, rules: nil, device: nil, now: now).data)
    }
}
