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
        let date = Date(
            timeIntervalSinceReferenceDate: now.timeIntervalSinceReferenceDate + seconds)
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
