import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Evidence")
struct EvidenceTests {
    private func reading(
        _ percent: Double, limit: String = "session", at seconds: Double, offset: Int64 = 0
    ) -> LimitReading {
        LimitReading(
            limit: limit,
            windows: [LimitReading.Window(kind: .session, usedPercent: percent, resetsAt: nil)],
            observedAt: sampleNow.addingTimeInterval(seconds),
            origin: LimitReading.Origin(path: "/log", offset: offset))
    }

    @Test("adding readings is commutative, associative and idempotent")
    func laws() {
        for seed in UInt64(1)...300 {
            var generator = SeededGenerator(seed: seed)
            let all = (0..<Int.random(in: 1...40, using: &generator)).map { offset in
                var reading = reading(
                    Double(offset), limit: Bool.random(using: &generator) ? "session" : "weekly",
                    at: Double(Int.random(in: -5...5, using: &generator)), offset: Int64(offset))
                reading.isFromFuture = Int.random(in: 0..<5, using: &generator) == 0
                if Int.random(in: 0..<5, using: &generator) == 0 { reading.flaw = .copy }
                return reading
            }
            var forward = Evidence()
            for reading in all { forward.add(reading) }
            var shuffled = Evidence()
            for reading in (all + all.prefix(3)).shuffled(using: &generator) {
                shuffled.add(reading)
            }
            var parts = Evidence()
            let cut = Int.random(in: 0...all.count, using: &generator)
            for slice in [all[cut...], all[..<cut]] {
                var part = Evidence()
                for reading in slice { part.add(reading) }
                parts.merge(part)
            }
            #expect(forward == shuffled, "seed \(seed)")
            #expect(forward == parts, "seed \(seed)")
        }
    }

    @Test("a reading from the future is older than every other")
    func future() {
        var future = reading(90, at: 86_400)
        future.isFromFuture = true
        var evidence = Evidence()
        evidence.add(future)
        #expect(evidence.newest("session") == future)
        evidence.add(reading(10, at: -86_400))
        #expect(evidence.newest("session")?.windows.first?.usedPercent == 10)
    }

    @Test("a window without a reset counts for its length")
    func withoutReset() {
        let window = LimitReading.Window(kind: .session, usedPercent: 50, resetsAt: nil)
        #expect(window.isLive(observedAt: sampleNow, at: sampleNow.addingTimeInterval(17_999)))
        #expect(!window.isLive(observedAt: sampleNow, at: sampleNow.addingTimeInterval(18_000)))
    }

    @Test("percents outside 0 to 200 cannot be")
    func implausible() {
        for percent in [Double.nan, .infinity, -.infinity, 1e18, -1, 200.1] {
            let window = LimitReading.Window(kind: .session, usedPercent: percent, resetsAt: nil)
            #expect(window.flaw(observedAt: sampleNow) == .implausiblePercent)
        }
        for percent in [0, 105, 200.0] {
            let window = LimitReading.Window(kind: .session, usedPercent: percent, resetsAt: nil)
            #expect(window.flaw(observedAt: sampleNow) == nil)
        }
    }

    @Test("window lengths match with a tolerance of two minutes")
    func kinds() {
        #expect(WindowKind(minutes: 299, place: 0) == .session)
        #expect(WindowKind(minutes: 302, place: 1) == .session)
        #expect(WindowKind(minutes: 303, place: 0) == .length(minutes: 303))
        #expect(WindowKind(minutes: 10_079, place: 0) == .weekly)
        #expect(WindowKind(minutes: 0, place: 1) == .weekly)
        #expect(WindowKind(minutes: nil, place: 0) == .session)
        #expect(WindowKind(minutes: 43_200, place: 0).name == "30-day")
    }
}
