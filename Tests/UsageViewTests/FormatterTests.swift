import ClockZones
import Foundation
import TestSupport
import SnapshotModels
import TerminalText
import Testing
@testable import UsageState

@testable import usage_view

@Suite("Numbers as text")
struct FormatterTests {
    @Test(
        "percentages never round across a significant limit",
        arguments: [
            (0, "0 %"), (0.01, "<1 %"), (0.99, "<1 %"), (1, "1 %"), (42.4, "42 %"),
            (42.5, "43 %"), (99.4, "99 %"), (99.6, "99 %"), (100, "100 %"), (100.4, "100 %"),
            (105, "105 %"), (-5, "-5 %"), (-0.4, "0 %"), (1e300, "999999 %"),
        ] as [(Double, String)])
    func percents(percent: Double, text: String) { #expect(AmountFormatter.percent(percent) == text) }

    @Test("used and left add up to 100 %")
    func complements() {
        for tenths in 10...990 {
            let used = Double(tenths) / 10
            let number = { (text: String) in Int(text.dropLast(2)) ?? -1 }
            let sum =
                number(AmountFormatter.percent(used))
                + number(AmountFormatter.percent(100 - used, isLeft: true))
            #expect((99...100).contains(sum), "\(used)")
            if used < 98.9 { #expect(sum == 100, "\(used)") }
        }
    }

    @Test(
        "a bar is empty only for nothing and full only for everything",
        arguments: [
            (-5, 0), (0, 0), (0.1, 1), (50, 5), (94, 9), (99.9, 9), (100, 10), (105, 10), (1e300, 10),
        ] as [(Double, Int)])
    func bars(percent: Double, cells: Int) {
        #expect(Bar.filledCells(percent: percent, cells: 10) == cells)
        let gauge = CardRow.Gauge(percent: percent, evenPercent: percent, text: "", shortText: "", style: .plain)
        #expect(Bar.line(gauge, cells: 10).cells == 10)
        #expect((0...1).contains(Bar.filledCells(percent: percent, cells: 1)))
    }

    @Test("amounts show their currency")
    func amounts() {
        #expect(AmountFormatter.money(4, currency: "USD") == "$4.00")
        #expect(AmountFormatter.money(-4, currency: "USD") == "-$4.00")
        #expect(AmountFormatter.ratio(4, of: 20.5, currency: "EUR") == "4.00 of 20.50 EUR")
        #expect(AmountFormatter.number(1e300) == "1e+300")
    }

    @Test("clock times of other days include the day")
    func clock() {
        let clock = TimeFormatter(now: Sample.now, zone: .fixed(secondsFromGMT: 7_200))
        #expect(clock.clock(Sample.now) == "14:00")
        #expect(clock.clock(Sample.now.addingTimeInterval(10 * 3_600)) == "Sat 19 Sep 00:00")
        #expect(clock.clock(Sample.now.addingTimeInterval(400 * 86_400)) == "23 Oct 2027")
    }

    @Test("clock times are in the zone that TZ names", .temporaryHome)
    func localZone() async throws {
        var home = TemporaryHome.ofTest
        var minutes: [Int] = []
        for zone in ["UTC0", "IST-5:30"] {
            home.variables["TZ"] = zone
            let text = try await home.run("usage-view", ["--demo", "--absolute"]).text
            let time = try #require(text.firstMatch(of: /resets [^\n]*?([0-9]{2}):([0-9]{2})/), "\(text)")
            minutes.append(try #require(Int(time.1)) * 60 + #require(Int(time.2)))
        }
        // The second program may have started a minute later.
        let difference = (minutes[1] - minutes[0] + 1_440) % 1_440
        #expect((330...332).contains(difference), "\(minutes)")
    }

    @Test("notes break between their parts first, then after commas, then at spaces")
    func wrapping() {
        let text = "resets in 3d 4h · far over pace · runs out in 7h 33m"
        #expect(Parts.wrapped(text, width: 34) == ["resets in 3d 4h · far over pace", "runs out in 7h 33m"])
        #expect(Parts.wrapped("one, two three, four", width: 10) == ["one,", "two three,", "four"])
        #expect(Parts.wrapped("", width: 5).isEmpty)
        #expect(Parts.wrapped("abcdef", width: 4) == ["abcd", "ef"])
    }
}
