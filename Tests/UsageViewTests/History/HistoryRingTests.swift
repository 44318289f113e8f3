import Foundation
import StoreTestSupport
import SnapshotModels
import Testing

@testable import UsageState
@testable import usage_view

@Suite("The ring of a window's past")
struct HistoryRingTests {
    private typealias Sample = HistorySample

    @Test("levels keep the ends of the scale for themselves")
    func levels() {
        let cases: [(Double, Double?)] = [
            (0, 0), (-3, 0), (0.01, 0.5), (0.3, 0.5), (36.2, 36), (36.3, 36.5), (99.9, 99.5),
            (100, 100), (105, 105), (1e300, 127), (.nan, nil), (.infinity, nil),
        ]
        for (percent, level) in cases { #expect(PercentLevel(percent: percent)?.percent == level, "\(percent)") }
    }

    @Test("a track keeps what a list of every observation would give", arguments: 0..<20)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var track = SlotTrack.fine
        var expected: [Int: HistorySlot] = [:]
        var number = 100_000
        for _ in 0..<2_000 {
            let step = [1, 1, 1, 3, 40, -2, -700, 900][Int.random(in: 0..<8, using: &generator)]
            number = max(50_000, number + step)
            let slot = HistorySlot(level: PercentLevel(halves: .random(in: 0...254, using: &generator)))
            if number >= (expected.keys.max() ?? number) - 671 { expected[number] = slot }
            track.update(number) { $0 = slot }
            let newest = expected.keys.max() ?? 0
            expected = expected.filter { $0.key > newest - 672 }
        }
        let found = Dictionary(uniqueKeysWithValues: track.entries.map { ($0.number, $0.slot) })
        #expect(found == expected, "seed \(seed)")
        #expect(track.slots.count <= 672 && track.slots.first?.isGap == false)
    }

    @Test("90 days leave 7 days of quarters and 90 of six hours")
    func wrap() throws {
        var history = UsageHistory()
        let start = Sample.monday
        let end = start + 100 * Sample.day
        for time in stride(from: start, through: end, by: 600) {
            let week = (time - start) / Sample.week
            let percent = Double((time - start) % Sample.week) / Double(Sample.week) * 80
            history.add(
                [Sample.card(percent, at: time, resetsAt: start + (week + 1) * Sample.week)], now: Sample.date(time))
        }
        let window = try #require(history[Sample.identity()])
        #expect(window.fine.slots.count == 672 && window.coarse.slots.count == 360)
        #expect(window.fine.end == end / 900 + 1 && window.coarse.end == end / 21_600 + 1)
        #expect(window.fine.slots.allSatisfy { $0.level != nil })
        // A reset marks the slot of its own time, with what was used.
        let resets = window.timeline.filter { $0.slot.levelBeforeReset != nil }
        #expect(resets.count == 13)
        #expect(resets.allSatisfy { ($0.start - start) % Sample.week == 0 })
        #expect(resets.allSatisfy { ($0.slot.levelBeforeReset?.percent ?? 0) > 79 })
        let times = window.timeline.map(\.start)
        #expect(times == times.sorted() && Set(times).count == times.count)
    }

    @Test("nothing observed is a gap, and a reset in it a mark without a percentage")
    func gaps() throws {
        var history = UsageHistory()
        let reset = Sample.monday + 2 * Sample.hour
        history.add([Sample.card(40, at: Sample.monday, resetsAt: reset)], now: Sample.date(reset))
        let later = Sample.monday + 10 * Sample.hour
        history.add([Sample.card(5, at: later, resetsAt: reset + Sample.week)], now: Sample.date(later))
        let window = try #require(history[Sample.identity()])
        #expect(
            window.finePoints.map(\.start) == [Sample.monday, reset, later]
                && window.finePoints.map(\.slot.level?.percent) == [40, nil, 5]
                && window.finePoints.map(\.slot.levelBeforeReset?.percent) == [nil, 40, nil])
        // In six hours the observation before the reset has become the mark.
        #expect(
            window.coarse.slots.map(\.level?.percent) == [nil, 5]
                && window.coarse.slots.map(\.levelBeforeReset?.percent) == [40, nil])
    }

    @Test("a percentage that falls is a reset only if the reset moves on")
    func grants() throws {
        func history(_ percent: Double, resetMovesBy seconds: Int) -> WindowHistory? {
            var history = UsageHistory()
            let (time, reset) = (Sample.monday, Sample.monday + Sample.day)
            history.add([Sample.card(80, at: time, resetsAt: reset)], now: Sample.date(time))
            history.add(
                [Sample.card(percent, at: time + 1_800, resetsAt: reset + seconds)], now: Sample.date(time + 1_800))
            return history[Sample.identity()]
        }
        func resets(_ history: WindowHistory?) -> [Double] {
            history?.fine.slots.compactMap(\.levelBeforeReset?.percent) ?? []
        }
        #expect(resets(history(30, resetMovesBy: 0)) == [])
        #expect(resets(history(30, resetMovesBy: -7_200)) == [])
        #expect(resets(history(30, resetMovesBy: 40)) == [])
        #expect(resets(history(30, resetMovesBy: 50_000)) == [80])
        #expect(resets(history(90, resetMovesBy: 50_000)) == [])
    }

    @Test("neither a clock that is wrong nor an old reading changes what is known")
    func clocks() throws {
        let now = Sample.monday + 5 * Sample.day
        var history = UsageHistory()
        func card(_ percent: Double, _ time: Int) -> ProviderUsageSnapshot {
            Sample.card(percent, at: time, resetsAt: Sample.monday + Sample.week)
        }
        history.add([card(40, now - 60)], now: Sample.date(now))
        let known = history
        history.add([card(99, now + 61)], now: Sample.date(now))
        history.add([card(10, now - 7_200)], now: Sample.date(now))
        history.add([card(10, 0), card(20, 253_402_300_799)], now: Sample.date(now))
        history.add([Sample.card(90, at: now, resetsAt: now - 10)], now: Sample.date(now))
        #expect(history == known)
        history.add([card(41, now + 59)], now: Sample.date(now))
        #expect(history != known)

        // What another device says about the future is left out by a reader.
        var future = UsageHistory()
        let far = now + 400 * Sample.day
        future.add([card(40, now - 60)], now: Sample.date(now))
        future.add([Sample.card(70, at: far, resetsAt: far + 60)], now: Sample.date(far))
        let read = UsageHistory(
            values: [
                UsageHistory.storeKey(deviceID: "1"): HistoryCodec.encode(known),
                UsageHistory.storeKey(deviceID: "2"): HistoryCodec.encode(future),
            ], now: Sample.date(now))
        #expect(read == known)
    }

    @Test("a plot and the numbers agree on how often the limit was reached", arguments: 0..<60)
    func reached(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let now = Sample.monday + 40 * Sample.day
        let history = Sample.random(3, until: now, steps: 1_500, using: &generator)
        let since = now - 7 * Sample.day
        let plotted = PlotSeries.all(of: history, since: Sample.date(since))
        for series in plotted {
            let identity = Sample.identity(series.label)
            let timeline = history[identity]?.timeline ?? []
            let summary = HistorySummary(timeline, since: since, now: now)
            #expect(series.reached.count == summary.reachedIn7Days, "seed \(seed)")
        }
        #expect(plotted.count == 3)
        #expect(plotted.contains { !$0.reached.isEmpty } || seed > 0)
    }
}
