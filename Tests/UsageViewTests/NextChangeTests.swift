import Foundation
import StoreTestSupport
import SnapshotModels
import Commands
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("The next change")
struct NextChangeTests {
    private static func date(_ seconds: Double) -> Date {
        Sample.now.addingTimeInterval(seconds)
    }

    @Test("countdowns and ages change when they say, and not before", arguments: 1...200 as ClosedRange<UInt64>)
    func durations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = [100.0, 5_000, 200_000, 2_000_000].randomElement(using: &random)!
        let date = Self.date(Double.random(in: -limit...limit, using: &random))
        func check(_ next: Date, _ text: (Date) -> String) {
            let now = Sample.now
            #expect(next > now)
            let length = next.timeIntervalSince(now)
            for _ in 0..<20 {
                let part = Double.random(in: 0..<1, using: &random)
                #expect(text(now.addingTimeInterval(length * part * 0.999_999)) == text(now), "seed \(seed)")
            }
            #expect(text(next.addingTimeInterval(0.001)) != text(now), "seed \(seed)")
        }
        check(DurationFormatter.nextAge(of: date, at: Sample.now)) { DurationFormatter.age(of: date, at: $0) }
        let next = DurationFormatter.nextCountdown(to: date, from: Sample.now)
        #expect((next == nil) == (date <= Sample.now))
        if let next {
            check(next) { DurationFormatter.countdown(to: date, from: $0) }
        }
    }

    @Test(
        "until then every screen is the same",
        arguments: [["v0-first"], ["busy-box", "busy-laptop"], ["busy-box"]], [false, true])
    func screens(files: [String], isAbsolute: Bool) throws {
        var random = SeededGenerator(seed: UInt64(files.count))
        let sample =
            files.count > 1
            ? try Sample.model(files[0], files[1]) : try Sample.model(files[0])
        for _ in 0..<12 {
            var options = sample.options
            options.isAbsolute = isAbsolute
            func drawn(at now: Date) -> ViewModel {
                ViewModel(data: sample.data, now: now, zone: sample.zone, options: options)
            }
            let model = drawn(at: Self.date(Double.random(in: -7_200...700_000, using: &random)))
            let next = try #require(model.nextChange)
            #expect(next > model.now)
            func screen(_ now: Date) -> String {
                ScreenLayout.screen(
                    for: drawn(at: now), size: ScreenSize(columns: 100, rows: nil)
                ).text(isColored: true)
            }
            let length = next.timeIntervalSince(model.now) - 0.002
            let first = screen(model.now)
            for part in [0.3, 0.7, 0.9, 1] where length > 0 {
                #expect(screen(model.now.addingTimeInterval(length * part)) == first)
            }
        }
    }

    @Test("an age counts from when the daemon was seen last, and nothing is without an end but nothing")
    func offline() throws {
        let lastSeen = Self.date(-90)
        func nextChange(_ link: UsageData.Link) throws -> Date {
            try #require(Sample.model(stored: .nothing, link: link).nextChange)
        }
        let next = try nextChange(.offline(lastSeen: lastSeen))
        #expect(abs(next.timeIntervalSince(Self.date(30))) < 0.01)
        #expect(try nextChange(.online) > Self.date(600))
    }

    @Test("the loop looks at the clock once a minute at least, and says since when it did not")
    func wakefulness() {
        var wakefulness = Wakefulness()
        #expect(wakefulness.markAwake(Self.date(0)) == nil)
        #expect(wakefulness.nextLook(at: Self.date(0), change: nil) == Self.date(60))
        #expect(wakefulness.nextLook(at: Self.date(0), change: Self.date(7)) == Self.date(7))
        #expect(wakefulness.nextLook(at: Self.date(0), change: Self.date(700)) == Self.date(60))
        #expect(wakefulness.markAwake(Self.date(100)) == nil)
        #expect(wakefulness.markAwake(Self.date(300)) == Self.date(100))
        #expect(wakefulness.markAwake(Self.date(310)) == nil)
        // The clock was set back.
        #expect(wakefulness.markAwake(Self.date(-5_000)) == nil)
    }
}
