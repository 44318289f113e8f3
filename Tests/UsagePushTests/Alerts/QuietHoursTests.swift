import Foundation
import Testing
import UsageState

@Suite("Quiet hours")
struct QuietHoursTests {
    @Test(
        "are two times of a day",
        arguments: [
            ("22:00-07:30", "22:00-07:30"), ("7:05-8:00", "07:05-08:00"), ("22:00-22:00", nil),
            ("24:00-07:00", nil), ("22:60-07:00", nil), ("22-07", nil), ("+2:00-07:00", nil),
            ("22:00-07:30-08:00", nil), ("", nil), ("22:00 - 07:30", nil),
        ] as [(String, String?)])
    func text(_ text: String, _ expected: String?) {
        #expect(QuietHours(text)?.text == expected)
    }

    @Test(
        "may span midnight",
        arguments: [
            ("22:00-07:30", 21.99, false), ("22:00-07:30", 22, true), ("22:00-07:30", 0, true),
            ("22:00-07:30", 7.49, true), ("22:00-07:30", 7.5, false), ("12:00-13:00", 12.5, true),
            ("12:00-13:00", 13, false),
        ])
    func midnight(_ text: String, _ hour: Double, _ expected: Bool) throws {
        let hours = try #require(QuietHours(text))
        let date = UsageScene.noon + (hour - 12) * 3_600
        #expect(hours.contains(date) { _ in 0 } == expected)
    }

    @Test("end at the time on the wall, also in the nights that are an hour shorter or longer")
    func daylightSaving() throws {
        let hours = try #require(QuietHours("22:00-07:30"))
        // Central Europe: from +2 to +1 on 25 October 2026 at 01:00 UTC, from +1 to +2 on 28 March 2027 at 01:00 UTC.
        let (autumn, spring) = (Date(timeIntervalSince1970: 1_792_890_000), Date(timeIntervalSince1970: 1_806_195_600))
        func offset(_ date: Date) -> Int { date < autumn || date >= spring ? 7_200 : 3_600 }
        for (change, ended) in [(autumn, 5.5), (spring, 4.5)] {
            let evening = change - 3_600 * 4
            #expect(hours.contains(evening, offset: offset))
            // 07:30 is 06:30 UTC in winter and 05:30 UTC in summer.
            let end = hours.end(after: evening, offset: offset)
            #expect(end == change + ended * 3_600)
            #expect(hours.contains(end - 1, offset: offset))
            #expect(!hours.contains(end, offset: offset))
        }
    }

    @Test("end in a minute that the clock skips as soon as it shows a later one")
    func skippedMinute() throws {
        let hours = try #require(QuietHours("22:00-02:30"))
        let change = Date(timeIntervalSince1970: 1_806_195_600)
        let end = hours.end(after: change - 3_600) { $0 < change ? 3_600 : 7_200 }
        #expect(end == change)
    }
}
