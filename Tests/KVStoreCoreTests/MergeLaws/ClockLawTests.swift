import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Laws of the clock, over generated histories")
struct ClockLawTests {
    private static let greatest: Int64 = (1 << 48) - 1

    /// Times close to overflow.
    private func time(_ random: inout SeededGenerator) -> Int64 {
        let edges: [Int64] = [
            .min, -1, 0, 1, HistoryGenerator.time, Self.greatest - 1, Self.greatest, Self.greatest + 1, .max,
        ]
        let edge = edges.randomElement(using: &random)!
        return edge &+ Int64.random(in: -2...2, using: &random)
    }

    private func stamp(_ random: inout SeededGenerator) -> StoreStamp {
        let counters: [UInt32] = [0, 1, .max - 1, .max]
        return StoreStamp(
            milliseconds: min(time(&random), Self.greatest - 10), counter: counters.randomElement(using: &random)!,
            replica: ReplicaID(rawValue: random.next()))
    }

    @Test("readings increase and exceed what was observed, whatever the device's clock does")
    func increasing() throws {
        try HistorySeeds.each(2_000, of: "clock") { seed in
            var random = SeededGenerator(seed: seed)
            var clock = HybridClock()
            let id = ReplicaID(rawValue: random.next())
            // The reading as a pair of numbers, so that the replica's id does not decide.
            var last: (Int64, UInt32) = (-1, 0)
            for _ in 0..<20 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let seen = stamp(&random)
                    clock.observe(seen)
                    let pair = (seen.milliseconds, seen.counter)
                    if pair > last { last = pair }
                case 1: clock.offsetMilliseconds = Int64.random(in: -5...5, using: &random)
                default:
                    // Below the end of time, so that there is a later reading to issue.
                    let now = min(time(&random), Self.greatest - 10)
                    let reading = clock.next(now: now, replica: id)
                    let pair = (reading.milliseconds, reading.counter)
                    if pair <= last || reading.replica != id || pair.0 > Self.greatest {
                        throw HistoryFailure("\(pair) after \(last)", seed)
                    }
                    last = pair
                }
            }
        }
    }

    @Test("a counter that overflows carries into the milliseconds")
    func overflow() {
        var clock = HybridClock()
        let id = ReplicaID(rawValue: 1)
        clock.observe(StoreStamp(milliseconds: 500, counter: .max, replica: id))
        let next = clock.next(now: 0, replica: id)
        #expect(next.description == "0000000001f5-00000000-0000000000000001")
        #expect(clock.next(now: 0, replica: id).counter == 1)
    }

    @Test("times outside 48 bits are clamped, and the counter still advances at the end of time")
    func clamps() {
        let id = ReplicaID(rawValue: 1)
        for now in [Self.greatest, Self.greatest + 1, .max] as [Int64] {
            var clock = HybridClock()
            #expect(clock.next(now: now, replica: id).description.hasPrefix("ffffffffffff-00000000"))
            #expect(clock.next(now: now, replica: id).description.hasPrefix("ffffffffffff-00000001"))
        }
        var clock = HybridClock()
        for counter in 1...3 as ClosedRange<UInt32> {
            let reading = clock.next(now: -5, replica: id)
            #expect(reading.milliseconds == 0 && reading.counter == counter)
        }
        clock.offsetMilliseconds = .max
        // Wraps rather than traps; the result is clamped and later than before.
        let before = clock
        let reading = clock.next(now: .max, replica: id)
        #expect((reading.milliseconds, reading.counter) > (before.reading.milliseconds, before.reading.counter))
    }

    @Test("the text of a stamp sorts like its numbers and parses back")
    func text() throws {
        try HistorySeeds.each(2_000, of: "stamp text") { seed in
            var random = SeededGenerator(seed: seed)
            let (left, right) = (stamp(&random), stamp(&random))
            let numbers = [left, right].map {
                [UInt64($0.milliseconds), UInt64($0.counter), $0.replica.rawValue]
            }
            let isLess = numbers[0].lexicographicallyPrecedes(numbers[1])
            if (left < right) != isLess || (left.description < right.description) != isLess
                || StoreStamp(left.description) != left
            {
                throw HistoryFailure("\(left) and \(right)", seed)
            }
        }
    }
}
