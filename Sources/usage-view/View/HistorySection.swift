import Essentials
import TerminalText
import UsageState

/// The percentages of every window over the last days.
enum HistorySection {
    static let period: TimeInterval = 7 * 86_400
    private static let plotRows = 10

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
            return ListItem(id(of: series), [line.truncated(toCells: width)])
        }
        let empty = [
            StyledLine("No samples yet.", .bold),
            StyledLine("  They are kept on the machine that pushes, from its next push on."),
        ]
        return Listing(items: items, empty: empty.flatMap { $0.wrapped(toCells: width) })
    }

    static func detail(_ model: LiveModel, id: String, width: Int) -> [StyledLine] {
        guard let series = model.data.series.first(where: { self.id(of: $0) == id }) else { return [] }
        let reached = series.reached.count
        let times =
            reached == 0
            ? "The limit was not reached."
            : "The limit was reached \(HistoryLines.times(reached))."
        let legend = "r reset · ! limit reached · dotted lines at 75 % and 90 % used"
        return plot(
            series, model: model, width: width, rows: plotRows,
            title: VisibleText.escape(series.label) + ", percent used, 7 days")
            + [StyledLine()] + times.wrapped(toCells: width).map { StyledLine($0) }
            + Parts.wrapped(legend, width: width).map { StyledLine($0, .dim) }
    }

    static func plot(_ series: PlotSeries, model: LiveModel, width: Int, rows: Int, title: String) -> [StyledLine] {
        let now = model.usage.now
        let plot = BraillePlot(series: series, start: now.addingTimeInterval(-period), end: now, times: model.times)
        return [StyledLine(title.truncated(toCells: width), .bold)] + plot.lines(width: width, rows: rows)
    }

    private static func id(of series: PlotSeries) -> String {
        [series.providerID, series.account ?? "", series.label].joined(separator: "\t")
    }

    private static func summary(_ series: PlotSeries, model: ViewModel) -> String {
        let last = series.last.map { model.percentText(used: $0) } ?? "no number"
        let peak = series.peak.map { "peak \(AmountFormatter.percent($0))" } ?? ""
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
