import Foundation
import Testing

@testable import TerminalText

@Suite("Durations")
struct DurationFormatterTests {
    let now = Date(timeIntervalSince1970: 1_789_732_800)

    @Test(
        "a countdown is rounded up to the minute",
        arguments: [
            (1, "1m"), (60, "1m"), (61, "2m"), (420, "7m"), (3_541, "1h"), (3_600, "1h"),
            (5_400, "1h 30m"), (86_399, "1d"), (86_400, "1d"), (183_600, "2d 3h"),
            (0, "now"), (-5, "now"), (1e30, "694444444d 10h"), (.infinity, "694444444d 10h"),
        ] as [(Double, String)])
    func countdown(seconds: Double, text: String) {
        let date = Date(timeIntervalSinceReferenceDate: now.timeIntervalSinceReferenceDate + seconds)
        #expect(DurationFormatter.countdown(to: date, from: now) == text)
    }

    @Test(
        "an age is rounded down",
        arguments: [
            (0, "just now"), (59, "just now"), (60, "1 min ago"), (3_599, "59 min ago"),
            (3_600, "1 h ago"), (86_400, "24 h ago"), (172_800, "2 d ago"), (-90, "just now"),
        ] as [(Double, String)])
    func age(seconds: Double, text: String) {
        #expect(DurationFormatter.age(of: now.addingTimeInterval(-seconds), at: now) == text)
    }

    @Test("a length has the largest whole unit")
    func length() {
        #expect(
            [300, 10_080, 45, 1_500, 43_800].map(DurationFormatter.length(minutes:))
                == ["5h", "7d", "45m", "25h", "730h"])
    }
}

@Suite("When durations change")
struct DurationChangeTests {
    private let now = Date(timeIntervalSince1970: 1_789_732_800)

    /// From seconds to weeks, on and beside whole minutes, hours and days.
    private static let lengths: [Double] =
        [0, 1, 59, 60, 3_540, 3_600, 86_340, 86_400, 172_800]
        .flatMap { length in [-0.5, 0, 0.5, 30].map { length + $0 } } + [300_000.25, 1e6]

    @Test("a countdown stays the same until the time that is named, and is another one then", arguments: lengths)
    func countdowns(length: Double) throws {
        let date = now.addingTimeInterval(length)
        let text = { (time: Date) in DurationFormatter.countdown(to: date, from: time) }
        guard let next = DurationFormatter.nextCountdown(to: date, from: now) else {
            #expect(text(now) == "now")
            return
        }
        #expect(next > now)
        #expect(text(next) != text(now))
        #expect(text(max(now, next.addingTimeInterval(-0.001))) == text(now))
    }

    @Test("so does an age", arguments: lengths)
    func ages(length: Double) {
        let date = now.addingTimeInterval(-length)
        let text = { (time: Date) in DurationFormatter.age(of: date, at: time) }
        let next = DurationFormatter.nextAge(of: date, at: now)
        #expect(next > now)
        #expect(text(next) != text(now))
        #expect(text(max(now, next.addingTimeInterval(-0.001))) == text(now))
    }
}
