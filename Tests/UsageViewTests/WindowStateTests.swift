import Foundation
import SnapshotModels
import Testing
import UsageState

@testable import usage_view

@Suite("Windows and their pace")
struct WindowStateTests {
    func window(
        _ used: Double, minutes: Int? = 300, resetsInMinutes: Double? = 150, label: String? = nil
    ) -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: used, windowMinutes: minutes,
            resetsAt: resetsInMinutes.map { Sample.now.addingTimeInterval($0 * 60) }, label: label)
    }

    @Test(
        "a window is named by its length",
        arguments: [
            (300, "Session (5h)"), (299, "Session (5h)"), (45, "Session (45m)"),
            (360, "Session (6h)"), (1_440, "Daily"), (10_079, "Weekly"), (10_080, "Weekly"),
            (10_081, "Weekly"), (43_200, "Period (30d)"), (43_800, "Period (30d)"),
        ])
    func labels(minutes: Int, text: String) { #expect(WindowLabel(of: window(1, minutes: minutes)).text == text) }

    @Test("the writer's label wins, and without a length the expected kind decides")
    func explicitLabels() {
        #expect(WindowLabel(of: window(1, label: "Fable")).text == "Fable")
        #expect(WindowLabel(of: window(1, label: "Session")).kind == .session)
        #expect(WindowLabel(of: window(1, minutes: nil), expected: .weekly).text == "Weekly")
        #expect(WindowLabel(of: window(1, minutes: nil)).text == "Limit")
        #expect(WindowLabel(of: window(1, minutes: .max)).kind == .other)
    }

    @Test("the session window comes first, then the weekly one, then the others")
    func order() {
        let state = Sample.provider([
            window(1, minutes: 43_200), window(2, label: "Extra"), window(3, minutes: 10_080), window(4),
        ])
        #expect(state.windows.map(\.window.usedPercent) == [4, 3, 1, 2])
    }

    @Test("a window at or past its reset is expired and has no pace")
    func expiry() {
        #expect(Sample.provider([window(1, resetsInMinutes: 0)]).windows[0].isExpired)
        #expect(!Sample.provider([window(1, resetsInMinutes: 0.01)]).windows[0].isExpired)
        #expect(!Sample.provider([window(1, resetsInMinutes: nil)]).windows[0].isExpired)
    }

    @Test(
        "the stage depends on the difference from the elapsed half",
        arguments: [
            (50, .onPace), (52, .onPace), (48, .onPace), (56, .slightlyOver),
            (44, .slightlyUnder), (62, .over), (38, .under), (62.1, .farOver), (37, .farUnder),
        ] as [(Double, Pace.Stage)])
    func stages(used: Double, stage: Pace.Stage) {
        #expect(Pace(of: window(used), observedAt: Sample.now)?.stage == stage)
    }

    @Test("the pace predicts when the limit is reached at the average rate")
    func runsOut() {
        let over = Pace(of: window(75), observedAt: Sample.now)
        #expect(over?.runsOutAt == Sample.now.addingTimeInterval(50 * 60))
        #expect(Pace(of: window(40), observedAt: Sample.now)?.runsOutAt == nil)
        #expect(Pace(of: window(0), observedAt: Sample.now)?.runsOutAt == nil)
    }

    @Test("there is no pace where it would be noise")
    func noPace() {
        #expect(Pace(of: window(5, resetsInMinutes: 292), observedAt: Sample.now) == nil)
        #expect(Pace(of: window(5, resetsInMinutes: 291), observedAt: Sample.now) != nil)
        #expect(Pace(of: window(5, resetsInMinutes: 301), observedAt: Sample.now) == nil)
        #expect(Pace(of: window(5, resetsInMinutes: -1), observedAt: Sample.now) == nil)
        #expect(Pace(of: window(100), observedAt: Sample.now) == nil)
        #expect(Pace(of: window(5, minutes: nil), observedAt: Sample.now) == nil)
        #expect(Pace(of: window(5, resetsInMinutes: nil), observedAt: Sample.now) == nil)
    }

    @Test("the level depends on the percentage left")
    func levels() {
        let levels = [0, 9.9, 10, 24.9, 25, 105].map { Urgency.left($0) }
        #expect(levels == [.critical, .critical, .low, .low, .comfortable, .comfortable])
    }
}
