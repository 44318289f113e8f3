import Essentials
import TerminalText
import UsageState

/// The past of windows as lines: a column for each part of the time, and what it adds up to.
struct HistoryLines {
    private static let widestLabel = 16
    private static let indent = 2

    private let listing: HistoryListing
    private let model: ViewModel
    private let width: Int
    private let labelCells: Int
    private let plotCells: Int
    private let columnSeconds: Double

    init(listing: HistoryListing, model: ViewModel, width: Int) {
        self.listing = listing
        self.model = model
        self.width = width
        let labels = listing.entries.map { CellWidth.of(VisibleText.escape($0.identity.label)) }
        labelCells = min(labels.max() ?? 0, Self.widestLabel)
        plotCells = max(1, width - Self.indent - labelCells - 2)
        columnSeconds = max(1, listing.now.timeIntervalSince(listing.since)) / Double(plotCells)
    }

    var lines: [StyledLine] {
        guard !listing.entries.isEmpty else { return [] }
        var lines: [StyledLine] = []
        var heading: String?
        for entry in listing.entries {
            let name = VisibleText.escape(entry.providerName)
            let account = VisibleText.escape(entry.account ?? "")
            if heading != name + "\n" + account {
                heading = name + "\n" + account
                if !lines.isEmpty { lines.append(StyledLine()) }
                lines.append(
                    StyledLine(name, .bold).appending(account.isEmpty ? "" : "  " + account)
                        .truncated(toCells: width))
            }
            lines += Self.row(entry, columns: columns(of: entry), at: labelCells, width: width)
        }
        return lines + [StyledLine()] + Parts.wrapped(scale, width: width).map { StyledLine($0, .dim) }
    }

    /// The most that was used in each part of the time; nil where nothing was observed.
    private func columns(of entry: HistoryListing.Entry) -> [PercentLevel?] {
        var columns = [PercentLevel?](repeating: nil, count: plotCells)
        let since = listing.since.timeIntervalSince1970
        for point in entry.points {
            guard let level = point.slot.greatest else { continue }
            let first = max(0, (Double(point.start) - since) / columnSeconds)
            // A slot that is longer than a column fills all of its columns.
            let last = max(first, (Double(point.end) - since) / columnSeconds - 0.001)
            for column in Int(first)...Int(last) where column < columns.count {
                columns[column] = max(columns[column] ?? .zero, level)
            }
        }
        return columns
    }

    private static func row(
        _ entry: HistoryListing.Entry, columns: [PercentLevel?], at labelCells: Int, width: Int
    ) -> [StyledLine] {
        let column = indent + labelCells + 2
        var line = StyledLine(String(repeating: " ", count: indent))
        line.append(VisibleText.escape(entry.identity.label).truncated(toCells: labelCells))
        line.pad(toCells: column)
        line.append(Sparkline.line(columns.map { $0?.percent }))
        let pieces = Parts.wrapped(summary(entry), width: max(1, width - column))
        return [line] + StyledLine().continued(by: pieces, atColumn: column, .dim)
    }

    private static func summary(_ entry: HistoryListing.Entry) -> String {
        let summary = entry.summary
        var parts: [String] = []
        if let least = summary.least, let greatest = summary.greatest {
            parts.append("least \(percent(least)), most \(percent(greatest))")
        }
        parts.append(entry.points.last?.slot.level.map { "last \(percent($0))" } ?? "reset since, no newer data")
        parts.append(
            summary.reachedIn90Days == 0
                ? "never reached in 90 days"
                : (summary.reachedIn7Days == 0
                    ? "not reached" : "reached \(times(summary.reachedIn7Days))")
                    + " in 7 days, \(times(summary.reachedIn90Days)) in 90")
        if let average = summary.averageAtReset {
            let resets = summary.resetCount == 1 ? "1 reset" : "\(summary.resetCount) resets"
            parts.append("\(AmountFormatter.percent(average)) used at \(resets) on average")
        }
        return parts.joined(separator: " · ")
    }

    private static func percent(_ level: PercentLevel) -> String { AmountFormatter.percent(level.percent) }

    static func times(_ count: Int) -> String {
        count == 1 ? "once" : "\(count) times"
    }

    /// "since Tue 17 Nov 15:00 · a column is 2h 48m · blank where nothing was observed".
    private var scale: String {
        let column = DurationFormatter.countdown(to: listing.now.addingTimeInterval(columnSeconds), from: listing.now)
        return "since \(model.times.clock(listing.since)) · a column is \(column)"
            + " · blank where nothing was observed"
    }
}

/// Percentages as one line of blocks.
enum Sparkline {
    /// - Parameters:
    ///   - columns: percent used; nil, a blank, where nothing is known.
    ///   - shown: what to show of a percentage.
    static func line(_ columns: [Double?], shown: (Double) -> Double = { $0 }) -> StyledLine {
        columns.reduce(into: StyledLine()) { line, used in
            line.append(used.map { bar(shown($0)) } ?? " ", used.map(TextStyle.level) ?? .plain)
        }
    }

    /// Full only for everything.
    private static func bar(_ percent: Double) -> String {
        percent >= 100 ? "█" : ["▁", "▂", "▃", "▄", "▅", "▆", "▇"][min(6, Int(max(0, percent) / 100 * 7))]
    }
}

extension TextStyle {
    /// How close the limit is.
    static func level(usedPercent: Double) -> TextStyle {
        Urgency.left(max(0, 100 - usedPercent)).style
    }
}
