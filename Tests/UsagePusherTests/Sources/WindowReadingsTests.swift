import Foundation
import Testing

@testable import UsagePusher

@Suite("Window readings")
struct WindowReadingsTests {
    private func reading(_ percent: Double, _ reset: Double?, _ observed: Double) -> WindowReading {
        WindowReading(
            usedPercent: percent, resetsAt: reset.map { sampleNow.addingTimeInterval($0) },
            observedAt: sampleNow.addingTimeInterval(observed))!
    }

    @Test("adding readings is commutative, associative and idempotent")
    func laws() {
        for seed in UInt64(1)...300 {
            var generator = SeededGenerator(seed: seed)
            let all = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                reading(
                    Double(Int.random(in: 0...5, using: &generator)),
                    Bool.random(using: &generator)
                        ? nil : Double(Int.random(in: -300...300, using: &generator)),
                    Double(Int.random(in: -500...10, using: &generator)))
            }
            var forward = WindowReadings()
            for reading in all { forward.add(reading) }
            var shuffled = WindowReadings()
            for reading in (all + all.prefix(3)).shuffled(using: &generator) {
                shuffled.add(reading)
            }
            var parts = WindowReadings()
            let cut = Int.random(in: 0...all.count, using: &generator)
            for slice in [all[cut...], all[..<cut]] {
                var part = WindowReadings()
                for reading in slice { part.add(reading) }
                parts.merge(part)
            }
            #expect(forward == shuffled, "seed \(seed)")
            #expect(forward == parts, "seed \(seed)")
        }
    }

    @Test("a reading without a reset counts only when no other does, for the length of its window")
    func withoutReset() {
        var readings = WindowReadings()
        readings.add(reading(50, nil, -100))
        #expect(readings.current(.session, at: sampleNow)?.usedPercent == 50)
        #expect(readings.current(.session, at: sampleNow.addingTimeInterval(18_000)) == nil)
        readings.add(reading(10, 60, -200))
        #expect(readings.current(.session, at: sampleNow)?.usedPercent == 10)
    }

    @Test("an implausible percent is not a reading")
    func nonsense() {
        for percent in [Double.nan, .infinity, -.infinity, 1e18, -1e18] {
            #expect(
                WindowReading(usedPercent: percent, resetsAt: nil, observedAt: sampleNow) == nil)
        }
    }

    @Test("window lengths match with a tolerance of two minutes")
    func kinds() {
        #expect(WindowKind(minutes: 299, place: 0) == .session)
        #expect(WindowKind(minutes: 302, place: 1) == .session)
        #expect(WindowKind(minutes: 303, place: 0) == .length(minutes: 303))
        #expect(WindowKind(minutes: 10_079, place: 0) == .weekly)
        #expect(WindowKind(minutes: 0, place: 1) == .unknown(place: 1))
        #expect(WindowKind(minutes: nil, place: 0) == .unknown(place: 0))
        #expect(WindowKind(minutes: 43_200, place: 0).name == "30-day")
    }
}
