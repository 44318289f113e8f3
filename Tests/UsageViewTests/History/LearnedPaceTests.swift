import ClockZones
import Foundation
import StoreTestSupport
import SnapshotModels
import TerminalText
import Testing

@testable import UsageState

/// Invented users, whose limits are simulated for some weeks.
@Suite("A pace that is learned from earlier windows")
struct LearnedPaceTests {
    private typealias Sample = HistorySample
    private static let zone = ClockZone.fixed(secondsFromGMT: 7_200)

    /// - Parameters:
    ///   - length: of a window, in seconds; each begins where the last one ends.
    ///   - rate: percent per hour at an hour of the user's week, from Monday 00:00 in the zone on, in a week.
    ///   - until: when the simulation ends, after the start.
    private func simulate(
        length: Int = Sample.week, until end: Int, rate: (_ week: Int, _ hour: Int) -> Double
    ) -> (history: WindowHistory?, window: SyncRateWindow) {
        var history = UsageHistory()
        // Monday 00:00 in the zone.
        let start = Sample.monday - 7_200
        var percent = 0.0
        var reset = start + length
        var card = Sample.card(0, at: start, minutes: length / 60, resetsAt: reset)
        for time in stride(from: start, through: start + end, by: 900) {
            if time >= reset { (percent, reset) = (0, reset + length) }
            let hours = (time - start) / Sample.hour
            let rate = rate(hours / 168, hours % 168)
            percent = min(100, percent + rate / 4)
            // A tool states its limits only while it is used.
            guard rate > 0 || time == start + end else { continue }
            card = Sample.card(percent, at: time, minutes: length / 60, resetsAt: reset)
            history.add([card], now: Sample.date(time))
        }
        return (history.windows.values.first, card.windows[0])
    }

    private func pace(_ simulation: (history: WindowHistory?, window: SyncRateWindow), at end: Int) -> Pace? {
        Pace(
            of: simulation.window, observedAt: Sample.date(Sample.monday - 7_200 + end),
            history: simulation.history, zone: Self.zone)
    }

    /// The hour of the user's week.
    private func hour(_ date: Date?) -> Double? {
        date.map { ($0.timeIntervalSince1970 - Double(Sample.monday - 7_200)) / 3_600 }
            .map { $0.truncatingRemainder(dividingBy: 168) }
    }

    private static func nineToFive(_ hour: Int) -> Bool { hour < 5 * 24 && (9..<17).contains(hour % 24) }

    @Test("nine to five: half of it used on Tuesday evening lasts until Friday morning")
    func office() throws {
        // 3 % an hour until now, 40 hours a week: without a limit 120 %.
        let end = 5 * Sample.week + 41 * Sample.hour
        let user = simulate(until: end) { Self.nineToFive($1) ? ($0 == 5 ? 3 : 2.4) : 0 }
        #expect(abs(user.window.usedPercent - 48) < 1)
        let pace = try #require(self.pace(user, at: end))
        #expect(pace.basis == Pace.Basis(count: 4, unit: .weeks))
        // 52 % are 17 hours and 20 minutes more: two days, and Friday until 10:20. The line does not know the nights.
        let learned = try #require(hour(pace.runsOutAt))
        #expect((96 + 9..<96 + 12).contains(learned), "\(learned)")
        let line = try #require(Pace(of: user.window, observedAt: Sample.date(Sample.monday - 7_200 + end)))
        #expect(line.basis == nil && line.stage == pace.stage)
        let straight = try #require(hour(line.runsOutAt))
        #expect((72 + 12..<72 + 15).contains(straight), "\(straight)")
    }

    @Test("nine to five: what is left on Friday evening lasts over the weekend")
    func weekend() throws {
        let end = 5 * Sample.week + (4 * 24 + 18) * Sample.hour
        let user = simulate(until: end) { Self.nineToFive($1) ? 2.2 : 0 }
        #expect(abs(user.window.usedPercent - 88) < 1)
        let pace = try #require(self.pace(user, at: end))
        #expect(pace.runsOutAt == nil && pace.stage == .farOver || pace.stage == .over)
        let line = try #require(Pace(of: user.window, observedAt: Sample.date(Sample.monday - 7_200 + end)))
        #expect(line.runsOutAt != nil)
    }

    @Test("a night worker's limit runs out at night")
    func night() throws {
        let end = 5 * Sample.week + (2 * 24 + 12) * Sample.hour
        func works(_ hour: Int) -> Bool { hour % 24 >= 22 || hour % 24 < 6 }
        let user = simulate(until: end) { works($1) ? ($0 == 5 ? 3.4 : 2) : 0 }
        let pace = try #require(self.pace(user, at: end))
        let learned = try #require(hour(pace.runsOutAt))
        #expect(works(Int(learned - 0.25)), "\(learned)")
        let shifts: Range<Double> = 70..<102
        #expect(shifts.contains(learned), "\(learned)")
    }

    @Test("an erratic user's estimate stays near the straight line", arguments: 0..<8)
    func erratic(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let hours = (0..<6 * 168).map { _ in
            Int.random(in: 0..<3, using: &generator) == 0 ? Double.random(in: 0...4, using: &generator) : 0
        }
        let end = 5 * Sample.week + 80 * Sample.hour
        let user = simulate(until: end) { hours[$0 * 168 + $1] }
        let learned = try #require(self.pace(user, at: end))
        let line = try #require(Pace(of: user.window, observedAt: Sample.date(Sample.monday - 7_200 + end)))
        #expect(learned.basis != nil)
        let reset = try #require(user.window.resetsAt)
        let difference = (learned.runsOutAt ?? reset).timeIntervalSince(line.runsOutAt ?? reset)
        #expect(abs(difference) < 26 * 3_600, "seed \(seed): \(difference / 3_600) h")
    }

    @Test("a week off does not count, and changes little")
    func holiday() throws {
        let end = 6 * Sample.week + 41 * Sample.hour
        func user(holidayIn off: Int?) -> (history: WindowHistory?, window: SyncRateWindow) {
            simulate(until: end) { week, hour in week != off && Self.nineToFive(hour) ? (week == 6 ? 3 : 2.4) : 0 }
        }
        let usual = try #require(self.pace(user(holidayIn: nil), at: end))
        for week in 1..<6 {
            let pace = try #require(self.pace(user(holidayIn: week), at: end))
            #expect(pace.basis?.count == 4)
            let difference = try #require(pace.runsOutAt).timeIntervalSince(try #require(usual.runsOutAt))
            #expect(abs(difference) < 2 * 3_600, "week \(week): \(difference / 3_600) h")
        }
    }

    @Test("two complete windows are too few, and the first week counts only from its start on")
    func tooFew() throws {
        func count(_ weeks: Int, firstHour: Int = 0) -> Int? {
            let end = weeks * Sample.week + 41 * Sample.hour
            let user = simulate(until: end) { week, hour in
                (week > 0 || hour >= firstHour) && Self.nineToFive(hour) ? 2 : 0
            }
            return pace(user, at: end)?.basis?.count
        }
        #expect(count(2, firstHour: 9) == nil)
        #expect(count(3, firstHour: 9) == nil)
        #expect(count(3) == nil)
        #expect(count(4, firstHour: 60) == 3)
        #expect(count(9) == 4)
    }

    @Test("sessions are learned by the hour of the day")
    func sessions() throws {
        // A session of five hours begins at 9 and at 14 on each day; after lunch three times as much is used.
        var history = UsageHistory()
        let start = Sample.monday - 7_200
        func rate(_ hour: Int) -> Double { hour < 14 ? 4 : hour < 17 ? 12 : 0 }
        for day in 0..<6 {
            for begin in [9, 14] {
                let first = start + day * Sample.day + begin * Sample.hour
                var percent = 0.0
                for time in stride(from: first, to: first + 5 * Sample.hour, by: 900) {
                    percent += rate((time - start) / Sample.hour % 24) / 4
                    let card = Sample.card(percent, at: time, minutes: 300, resetsAt: first + 5 * Sample.hour)
                    history.add([card], now: Sample.date(time))
                    if day == 5, begin == 9 { break }
                }
                if day == 5 { break }
            }
        }
        // Today's began at noon: four hours that seem quiet.
        let begin = start + 5 * Sample.day + 12 * Sample.hour
        let window = SyncRateWindow(usedPercent: 30, windowMinutes: 300, resetsAt: Sample.date(begin + 5 * Sample.hour))
        let observed = Sample.date(begin + 105 * 60)
        let pace = try #require(
            Pace(
                of: window, observedAt: observed,
                history: history[Sample.identity("Session (5h)", minutes: 300)], zone: Self.zone))
        #expect(pace.basis?.unit == .sessions && pace.basis?.count == 10)
        let line = try #require(Pace(of: window, observedAt: observed))
        #expect(line.runsOutAt == nil)
        #expect(pace.runsOutAt != nil)
    }

    @Test("the sentence says what it was learned from")
    func text() throws {
        let end = 5 * Sample.week + 41 * Sample.hour
        let user = simulate(until: end) { Self.nineToFive($1) ? ($0 == 5 ? 3 : 2.4) : 0 }
        let pace = try #require(self.pace(user, at: end))
        let now = Sample.date(Sample.monday - 7_200 + end)
        let text = pace.text.text(TimeFormatter(now: now, zone: Self.zone))
        #expect(
            text.wholeMatch(of: /well ahead of pace · runs out Fri 23 Oct [0-9:]{5} by your last 4 weeks/)
                != nil, "\(text)")
        let quiet = simulate(until: end) { _, hour in Self.nineToFive(hour) ? 2 : 0 }
        let lasts = try #require(self.pace(quiet, at: end))
        // It is used faster than time passes, which the user's hours explain.
        #expect(lasts.stage.isOver == true)
        #expect(lasts.text.text(TimeFormatter(now: now, zone: Self.zone)) == "lasts until reset by your last 4 weeks")
    }
}
