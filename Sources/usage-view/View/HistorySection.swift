import Essentials
import TerminalText
import UsageState

/// The percentages of every window over the last days.
enum HistorySection {
    static let period = PlotView.pasts[0]
    /// Fewer samples are said in a line.
    private static let plottedSamples = 5
    private static let widestSparkline = 60
    private static let leastTitleCells = 6

    static func listing(_ model: LiveModel, width: Int) -> Listing {
        let shown = model.usage.providers.flatMap { provider in
            model.data.series.filter(provider.owns).map { (provider.title, $0) }
        }
        let items = shown.map { title, series in
            let line = heading(title, series, model: model.usage, width: width)
            return ListItem(
                id(of: series), [line.truncated(toCells: width), sparkline(series, model.usage, width: width)])
        }
        let empty = [
            StyledLine("No samples yet.", .bold),
            StyledLine("  They are kept on the machine that pushes, from its next push on."),
        ]
        return Listing(items: items, empty: empty.flatMap { $0.wrapped(toCells: width) })
    }

    /// Account, window and numbers. The peak gives way first, then the account, never the window.
    private static func heading(
        _ title: String, _ series: PlotSeries, model: ViewModel, width: Int
    ) -> StyledLine {
        let state = window(of: series, in: model)
        let label = VisibleText.escape(series.label)
        var numbers = summary(series, state, model: model)
        func room() -> Int { width - CellWidth.of(numbers[...].joined(separator: " · ")) - 2 }
        let short = state.map { VisibleText.escape($0.1.label.short) } ?? label
        let least = CellWidth.of(short) + 2 + leastTitleCells
        while room() < least, numbers.count > 1 { numbers.removeLast() }
        let full = title + "  " + label
        let name =
            CellWidth.of(full) <= room()
            ? full : title.truncated(toCells: max(0, room() - CellWidth.of(short) - 2)) + "  " + short
        return StyledLine(name.fitted(toCells: max(0, room()))).appending("  " + numbers.joined(separator: " · "), .dim)
    }

    private static func window(of series: PlotSeries, in model: ViewModel) -> (ProviderState, WindowState)? {
        model.providers.lazy.filter { $0.owns(series) }.compactMap { provider in
            provider.windows.first { $0.label.text == series.label }.map { (provider, $0) }
        }.first
    }

    private static func sparkline(_ series: PlotSeries, _ model: ViewModel, width: Int) -> StyledLine {
        let columns = PlotColumns(
            series, count: min(width, widestSparkline), from: model.now.addingTimeInterval(-period), to: model.now)
        return Sparkline.line(columns.values.map { $0?.used }, shown: model.shown).withoutTrailingSpaces
    }

    static func detail(_ model: LiveModel, id: String, view: PlotView, width: Int, rows: Int) -> [StyledLine] {
        guard let series = model.data.series.first(where: { self.id(of: $0) == id }) else { return [] }
        let reached = series.reached.count
        let times =
            reached == 0
            ? "The limit was not reached in 7 days."
            : "The limit was reached \(HistoryLines.times(reached)) in 7 days."
        let legend = "│ now · ┴ reset · ! limit reached · dashed: if it goes on like this · dotted: 75 % and 90 % used"
        let texts =
            [StyledLine()] + times.wrapped(toCells: width).map { StyledLine($0) }
            + Parts.wrapped(legend, width: width).map { StyledLine($0, .dim) }
        let forecast = model.usage.providers.first { $0.owns(series) }?.forecast(of: series)
        return plot(
            series, forecast, model: model.usage, view: view, width: width, rows: plotRows(rows - texts.count, count: 1)
        )
            + texts
    }

    /// The rows of each of several plots in a height, within which they can be read.
    static func plotRows(_ rows: Int, count: Int, upTo limit: Int = 24) -> Int {
        // A title, and a blank after the axis.
        min(max(5, rows / max(1, count) - BraillePlot.axisLines - 2), limit)
    }

    /// A title, with what is at the cursor, and a plot; of few samples one line.
    static func plot(
        _ series: PlotSeries, _ forecast: PlotForecast?, model: ViewModel, view: PlotView = PlotView(), width: Int,
        rows: Int
    ) -> [StyledLine] {
        let label = VisibleText.escape(series.label)
        let samples = series.samples.filter { $0.used != nil }
        guard samples.count >= plottedSamples else {
            let known = samples.last.flatMap { sample in
                sample.used.map { "\(model.percentText(used: $0)) at \(model.times.clock(sample.date))" }
            }
            let text = Parts.joined(known ?? "nothing observed", "too few readings for a plot")
            return [StyledLine(label, .bold).appending("  " + text).truncated(toCells: width)]
        }
        let cursor = view.cursor(at: model.now)
        let plot = BraillePlot(
            series: series, forecast: forecast, measure: model.options.measure,
            span: view.span(at: model.now, reset: forecast?.reset), cursor: cursor, times: model.times)
        var title = StyledLine(label + ", percent \(model.options.measure.rawValue), \(view.title)", .bold)
        if let cursor {
            let value = plot.used(at: cursor, width: width).map(model.percentText) ?? "nothing observed"
            title.append("  ↑ \(model.times.clock(cursor)): \(value)")
        }
        return [title.truncated(toCells: width)] + plot.lines(width: width, rows: rows)
    }

    private static func id(of series: PlotSeries) -> String {
        [series.providerID, series.account ?? "", series.label].joined(separator: "\t")
    }

    /// The most important first.
    private static func summary(
        _ series: PlotSeries, _ window: (ProviderState, WindowState)?, model: ViewModel
    ) -> [String] {
        var last = series.last.map { model.percentText(used: $0) } ?? "no number"
        if let item = window.map({ UsageItem($0, $1, at: model.now) }), !item.condition.isKnown {
            last =
                item.condition == .expired
                ? (item.resetsAt.map(model.times.reset) ?? "reset") + ", no newer data"
                : last + " " + DurationFormatter.age(of: item.observedAt, at: model.now)
        }
        let reached = series.reached.isEmpty ? "" : "reached \(series.reached.count)×"
        let name = model.options.measure == .used ? "peak" : "least"
        let peak = series.peak.map { "\(name) \(AmountFormatter.percent(model.shown(used: $0)))" } ?? ""
        return [last, reached, peak].filter { !$0.isEmpty }
    }
}

extension StyledLine {
    /// A line of one style in lines of at most `width` cells.
    func wrapped(toCells width: Int) -> [StyledLine] {
        guard cells > width, let style = spans.first?.style else { return [self] }
        return plainText.wrapped(toCells: width).map { StyledLine($0, style) }
    }
}
