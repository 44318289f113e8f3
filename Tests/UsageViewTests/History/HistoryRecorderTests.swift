import Foundation
import SnapshotModels
import Testing

@testable import UsageState

@Suite("Recording history")
struct HistoryRecorderTests {
    private typealias Sample = HistorySample
    private static let start = Sample.monday + 9 * Sample.hour
    private static let reset = start + 5 * Sample.hour

    private func snapshot(
        _ percent: Double, at seconds: Int, observedAt: Int? = nil, resetsAt: Int = reset
    ) -> SyncedUsageSnapshot {
        Sample.snapshot(
            [Sample.card(percent, at: observedAt ?? seconds, minutes: 300, resetsAt: resetsAt)], at: seconds)
    }

    private var identity: WindowIdentity { Sample.identity("Session (5h)", minutes: 300) }

    private func slots(_ value: Data?) -> [Double?] {
        value.flatMap { try? HistoryCodec.decode($0) }?[identity]?.fine.slots.map { $0.level?.percent } ?? []
    }

    @Test("a busy tool is written once a slot, or when it has moved by five points")
    func rate() {
        func writes(_ percentPerSecond: Double, _ recorder: inout HistoryRecorder) -> Int {
            (0..<3_600).count { second in
                recorder.record(snapshot(Double(second) * percentPerSecond, at: Self.start + second)) != nil
            }
        }
        var fast = HistoryRecorder(stored: nil)
        #expect(writes(1 / 72, &fast) == 12)
        var recorder = HistoryRecorder(stored: nil)
        #expect(writes(1 / 600, &recorder) == 4)
        // A slot has its last percentage once the next one begins.
        let value = recorder.record(snapshot(6, at: Self.start + 3_600))
        #expect(slots(value) == [1.5, 3, 4.5, 6, 6])
    }

    @Test("nothing is written while nothing is observed")
    func idle() {
        var recorder = HistoryRecorder(stored: nil)
        #expect(recorder.record(snapshot(20, at: Self.start)) != nil)
        for minute in 1..<200 {
            let later = snapshot(20, at: Self.start + minute * 60, observedAt: Self.start)
            #expect(recorder.record(later) == nil)
        }
    }

    @Test("what was stored is continued after a restart, and again after a kill before any write")
    func restart() {
        var stored: Data?
        for quarter in 0..<8 {
            // Each run of usage-push has only what the store has; every third is killed before it writes.
            var recorder = HistoryRecorder(stored: stored)
            let value = recorder.record(snapshot(Double(quarter), at: Self.start + quarter * 900))
            #expect(value != nil)
            if quarter % 3 != 2 { stored = value }
        }
        #expect(slots(stored) == [0, 1, nil, 3, 4, nil, 6, 7])
        var again = HistoryRecorder(stored: stored)
        #expect(again.record(snapshot(7, at: Self.start + 7 * 900)) == nil)
    }

    @Test("reaching a limit and a passing reset are written at once")
    func marks() throws {
        var recorder = HistoryRecorder(stored: nil)
        _ = recorder.record(snapshot(97, at: Self.start))
        #expect(recorder.record(snapshot(99, at: Self.start + 60)) == nil)
        #expect(recorder.record(snapshot(100, at: Self.start + 120)) != nil)
        #expect(recorder.record(snapshot(100, at: Self.start + 180)) == nil)
        // The tool states nothing any more, and the reset passes.
        let passed = recorder.record(Sample.snapshot([], at: Self.reset + 1))
        #expect(recorder.record(Sample.snapshot([], at: Self.reset + 60)) == nil)
        let history = try HistoryCodec.decode(try #require(passed))
        let points = try #require(history[identity]).finePoints
        #expect(points.map(\.start) == [Self.start, Self.reset])
        #expect(points.map(\.slot.isReached) == [true, false])
        #expect(points.last?.slot.levelBeforeReset?.percent == 100)
    }

    @Test("estimates are marked")
    func estimates() throws {
        var card = Sample.card(30, at: Self.start, minutes: 300, resetsAt: Self.reset)
        card.usageDataConfidence = "estimated"
        var recorder = HistoryRecorder(stored: nil)
        _ = recorder.record(Sample.snapshot([card], at: Self.start))
        let value = recorder.record(snapshot(31, at: Self.start + 900))
        let history = try HistoryCodec.decode(try #require(value))
        #expect(history[identity]?.fine.slots.map(\.isEstimate) == [true, false])
    }

    @Test("a window that is stated twice, or without a percentage, is recorded once or not at all")
    func strange() throws {
        var card = Sample.card(30, at: Self.start, resetsAt: nil)
        card.rateWindows?.append(SyncRateWindow(usedPercent: 70, windowMinutes: 10_079))
        card.rateWindows?.append(SyncRateWindow(usedPercent: .nan, label: "N"))
        card.rateWindows?.append(SyncRateWindow(usedPercent: 5, windowMinutes: .max, label: "Long"))
        var recorder = HistoryRecorder(stored: nil)
        let value = recorder.record(Sample.snapshot([card], at: Self.start))
        let history = try HistoryCodec.decode(try #require(value))
        #expect(history.windows.mapValues(\.last.level.percent) == [Sample.identity(): 30])
    }
}

@Suite("What history adds up to")
struct HistorySummaryTests {
    private typealias Sample = HistorySample

    /// - Parameter percents: one for each hour; nil where nothing was observed.
    private func summary(_ percents: [Double?], windowHours: Int = 5) -> HistorySummary {
        var history = UsageHistory()
        for (hour, percent) in percents.enumerated() {
            let time = Sample.monday + hour * Sample.hour
            let reset = Sample.monday + (hour / windowHours + 1) * windowHours * Sample.hour
            let cards = percent.map { [Sample.card($0, at: time, minutes: windowHours * 60, resetsAt: reset)] }
            history.add(cards ?? [], now: Sample.date(time))
        }
        let points = history.windows.values.first?.timeline ?? []
        return HistorySummary(points, since: 0, now: Sample.monday + percents.count * Sample.hour)
    }

    @Test(
        "a limit is reached once for each time it was below before, and again after a reset",
        arguments: [
            ([50, 100, 100, 105, 100], 1), ([100, nil, nil, nil, 100], 1), ([100, 40, 100, 40, 40], 2),
            ([0, 0, 0, 0, 100, 100], 2), ([0, 0, 0, 0, 100, 3, 100], 2), ([0, 99.9, 20], 0),
            ([100, 100, 100, 100, 100, 5], 1), ([], 0),
        ] as [([Double?], Int)])
    func reached(percents: [Double?], count: Int) { #expect(summary(percents).reachedIn90Days == count) }

    @Test("the average is that of the last percentages before resets")
    func atReset() {
        let summary = summary([10, 20, 30, 40, 50, nil, 60, 70, nil, nil, 5])
        #expect(summary.resetCount == 2 && summary.averageAtReset == 60)
        #expect(summary.least?.percent == 5 && summary.greatest?.percent == 70)
        #expect(self.summary([0, 0, 0, 0, 0, 0]).averageAtReset == nil)
    }

    @Test("the last seven days are counted apart")
    func weeks() {
        var percents = [Double?](repeating: nil, count: 20 * 24)
        percents[5] = 100
        percents[19 * 24] = 100
        let summary = summary(percents)
        #expect(summary.reachedIn7Days == 1 && summary.reachedIn90Days == 2)
    }
}
