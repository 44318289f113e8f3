import ClockZones
import Commands
import Foundation
import SnapshotModels
import StoreTestSupport
import TerminalText
import Testing
@testable import UsageState

@testable import usage_view

@Suite("Plots")
struct PlotTests {
    private static let hour = 3_600.0

    private static func date(_ hours: Double) -> Date { Sample.now.addingTimeInterval(hours * hour) }

    private static func series(_ samples: [(hours: Double, percent: Double?)]) -> PlotSeries {
        PlotSeries(
            providerID: "x", account: nil, label: "Weekly",
            samples: samples.map { PlotSeries.Sample(date: date($0.hours), percent: $0.percent) })
    }

    /// A window of a week as it was observed now.
    private static func window(_ used: Double, resetsIn hours: Double, minutes: Int = 10_080) -> WindowState? {
        Sample.provider([SyncRateWindow(usedPercent: used, windowMinutes: minutes, resetsAt: date(hours))]).windows
            .first
    }

    private static func forecast(_ used: Double, resetsIn hours: Double) -> PlotForecast? {
        window(used, resetsIn: hours).flatMap { PlotForecast(of: $0, observedAt: Sample.now) }
    }

    /// The text of a plot without its title.
    private func rows(_ lines: [StyledLine]) -> [String] { lines.dropFirst().map(\.plainText) }

    // MARK: - Screens

    /// What is drawn, and why it is a case of its own.
    enum Case: String, CaseIterable {
        case used, left, runsOut, hours, panned, ascii, low
    }

    @Test("every kind of plot has a stored screen", arguments: Case.allCases)
    func stored(shown: Case) throws {
        var options = LiveState().options
        if shown == .left { options.measure = .left }
        let data = try LiveSample.busy().data
        let model = LiveModel(data, now: Sample.now, zone: .fixed(secondsFromGMT: 0), options: options).usage
        var view = PlotView()
        if shown == .hours || shown == .panned { view.zoom(by: 2) }
        if shown == .panned { view.move(by: -120) }
        let forecast = shown == .runsOut ? Self.forecast(49, resetsIn: 120) : Self.forecast(49, resetsIn: 60)
        let lines = HistorySection.plot(
            try #require(data.series.first), forecast, model: model, view: view, width: 70, rows: shown == .low ? 5 : 10
        )
        #expect(lines.allSatisfy { $0.cells <= 70 })
        let text = (shown == .ascii ? lines.map(\.inASCII) : lines).text(isColored: false)
        if shown == .ascii { #expect(text.utf8.allSatisfy { $0 < 0x80 }) }
        try Repository.expectScreen(text, equals: "plot-\(shown.rawValue)")
    }

    @Test("a plot fits every width and height, whatever it contains")
    func sizes() throws {
        let model = try LiveSample.busy()
        let series = try #require(model.data.series.first)
        for width in 0...60 {
            for rows in 1...6 {
                let lines = HistorySection.plot(
                    series, Self.forecast(50, resetsIn: 24), model: model.usage, width: width, rows: rows)
                #expect(lines.allSatisfy { $0.cells <= width })
                #expect([1, rows + 3].contains(lines.count))
            }
        }
    }

    @Test("numbers and times that cannot be are clamped to the plot")
    func hostile() throws {
        let model = try LiveSample.busy()
        let dates = [-1e15, -7_200, -5_400, -3_600, -1_800, 0, 1e15].map { Sample.now.addingTimeInterval($0) }
        let percents = [-1e300, 1e300, .nan, .infinity, 105, 3, 7]
        let series = PlotSeries(
            providerID: "x", account: nil, label: "\u{1B}[2J",
            samples: zip(dates, percents).map { PlotSeries.Sample(date: $0, percent: $1) },
            resets: dates, reached: dates)
        var view = PlotView()
        for _ in 0..<4 {
            let lines = HistorySection.plot(series, nil, model: model.usage, view: view, width: 40, rows: 4)
            #expect(lines.count == 7 && lines.allSatisfy { $0.cells <= 40 })
            #expect(!lines.contains { $0.plainText.unicodeScalars.contains(where: VisibleText.isHidden) })
            view.zoom(by: 1)
            view.move(by: -1_000)
        }
    }

    @Test("fewer than five samples are a line that says the last value and when it was", arguments: 0...6)
    func few(count: Int) throws {
        let model = try LiveSample.busy().usage
        let series = Self.series((0..<count).map { (Double($0 - count), 40 + Double($0)) })
        let lines = HistorySection.plot(series, nil, model: model, width: 70, rows: 5)
        #expect(lines.count == (count < 5 ? 1 : 8))
        guard count < 5 else { return }
        let text = lines[0].plainText
        #expect(text.hasPrefix("Weekly") && text.contains("too few readings for a plot"))
        #expect(text.contains(count == 0 ? "nothing observed" : "\(39 + count) % used at 11:00"))
    }

    // MARK: - Columns

    @Test("up to three samples that are missing are joined, and more are open", arguments: 0...6)
    func gaps(missing: Int) {
        let later = Double(-4 + missing)
        let series = Self.series([(-5, 40), (-4, nil), (later, 60), (later + 1, nil)])
        let columns = PlotColumns(series, count: 12, from: Self.date(-6), to: Self.date(6))
        let isJoined = missing <= 3
        let expected: [PlotColumns.Value?] =
            [nil, .init(used: 40, isJoined: false)]
            + Array(repeating: isJoined ? .init(used: 40, isJoined: true) : nil, count: missing)
            + [.init(used: 60, isJoined: false)] + Array(repeating: nil, count: 9 - missing)
        #expect(columns.values == expected)
    }

    @Test("a column has the most that was used in it, and an observation rather than what is joined")
    func columns() {
        let series = Self.series([(-4, 10), (-3.5, 90), (-3, 20), (-2.5, nil), (-1.5, 30), (-1, 35)])
        let columns = PlotColumns(series, count: 4, from: Self.date(-4), to: Self.date(0))
        #expect(columns.values.map { $0?.used } == [90, 20, 30, 35])
        #expect(columns.values.allSatisfy { $0?.isJoined == false })
    }

    // MARK: - Forecast

    @Test("a forecast never falls, and is at the limit before the reset exactly if the pace runs out", arguments: 1...9)
    func forecasts(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<200 {
            let used = Double.random(in: 0...110, using: &random)
            let hours = Double.random(in: -10...170, using: &random)
            let window = try #require(Self.window(used, resetsIn: hours))
            guard let forecast = PlotForecast(of: window, observedAt: Sample.now) else {
                #expect(hours <= 0 || (window.pace == nil && used < 100))
                continue
            }
            let percents = (0...40).compactMap { forecast.percent(at: Self.date(hours * Double($0) / 40.001)) }
            #expect(percents.count == 41 && percents == percents.sorted())
            #expect(abs((percents.first ?? 0) - min(used, 100)) < 0.001)
            #expect(forecast.reset == window.window.resetsAt && percents.allSatisfy { $0 <= 100 })
            guard let end = window.pace?.runsOutAt else {
                #expect(used >= 100 || percents.allSatisfy { $0 < 100 })
                continue
            }
            #expect(abs((forecast.percent(at: end) ?? 0) - 100) < 0.001)
            #expect((forecast.percent(at: end.addingTimeInterval(-60)) ?? 0) < 100)
        }
        #expect(Self.forecast(50, resetsIn: 1)?.percent(at: Self.date(2)) == nil)
        #expect(Self.forecast(50, resetsIn: 1)?.percent(at: Self.date(-1)) == nil)
    }

    // MARK: - Zoom

    @Test("the cursor is always in the drawn time, of which at most a third is the future", arguments: 1...9)
    func spans(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var view = PlotView()
        for _ in 0..<200 {
            if Bool.random(using: &random) {
                view.zoom(by: Int.random(in: -2...2, using: &random))
            } else {
                view.move(by: Int.random(in: -60...60, using: &random))
            }
            let reset = Self.date(Double.random(in: -10...200, using: &random))
            let span = view.span(at: Sample.now, reset: reset)
            let length = span.upperBound.timeIntervalSince(span.lowerBound)
            #expect(span.lowerBound >= Sample.now.addingTimeInterval(-HistorySection.period))
            #expect(span.upperBound.timeIntervalSince(Sample.now) <= length / 3 + 1)
            #expect(span.upperBound <= max(reset, Sample.now))
            #expect(view.cursor(at: Sample.now).map(span.contains) ?? true)
        }
    }

    @Test("in an open plot arrows move a cursor with its value, signs zoom, and escape is back to the list")
    func keys() throws {
        let model = try LiveSample.busy()
        let size = ScreenSize(columns: 80, rows: 24)
        var state = LiveState()
        state.settings.sidebar = .hidden
        func press(_ keys: Key...) -> String {
            _ = state.press(keys, model, size)
            return LiveScreen.drawing(for: model, state: state, size: size).screen.text(isColored: false)
        }
        #expect(press(.character("2"), .enter).contains("← → move  + - zoom  esc back"))
        #expect(press(.left).contains("7 days  ↑ 10:00: 49 % used"))
        #expect(press(.left, .right, .right).contains("↑ 12:00"))
        #expect(press(.right) == press(.right), "there is nothing later")
        let zoomed = press(.character("+"), .character("+"))
        #expect(zoomed.contains("24 hours") && zoomed.contains(" 06:00 "))
        for _ in 0..<50 { _ = press(.left) }
        #expect(press().contains("↑ Thu 17 Sep 21:42"))
        #expect(press(.character("-"), .character("-"), .character("-")).contains("7 days"))
        #expect(!press(.escape).contains("↑") && !state.scene.isDetailOpen && state.plot == PlotView())
        #expect(press(.right).contains("7 days"), "in the list the arrow opens")
    }
}
