import Essentials
import TerminalText
import UsageState

/// The percentages of every window over the last days.
enum HistorySection {
    static let period = PlotView.pasts[0]
    /// Fewer samples are said in a line.
    private static let plottedSamples = 5
    private static let widestSparkline = 60

    static func listing(_ model: LiveModel, width: Int) -> Listing {
        let shown = model.usage.providers.flatMap { provider in
            model.data.series.filter(provider.owns).map { (provider.title, $0) }
        }
        let items = shown.map { title, series in
            let numbers = summary(series, model: model.usage)
            let label = VisibleText.escape(series.label)
            let room = max(0, width - CellWidth.of(numbers) - 2)
            var line = StyledLine((title + "  " + label).fitted(toCells: room))
            line.append("  " + numbers, .dim)
            return ListItem(
                id(of: series), [line.truncated(toCells: width), sparkline(series, model.usage, width: width)])
        }
        let empty = [
            StyledLine("No samples yet.", .bold),
            StyledLine("  They are kept on the machine that pushes, from its next push on."),
        ]
        return Listing(items: items, empty: empty.flatMap { $0.wrapped(toCells: width) })
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

    private static func summary(_ series: PlotSeries, model: ViewModel) -> String {
        let last = series.last.map { model.percentText(used: $0) } ?? "no number"
        let name = model.options.measure == .used ? "peak" : "least"
        let peak = series.peak.map { "\(name) \(AmountFormatter.percent(model.shown(used: $0)))" } ?? ""
        let reached = series.reached.isEmpty ? "" : "reached \(series.reached.count)×"
        return Parts.joined(last, peak, reached)
    }
}

extension StyledLine {
    /// A line of one style in lines of at most `width` cells.
    func wrapped(toCells width: Int) -> [StyledLine] {
        guard cells > width, let style = spans.first?.style else { return [self] }
        return plainText.wrapped(toCells: width).map { StyledLine($0, style) }
    }
}
