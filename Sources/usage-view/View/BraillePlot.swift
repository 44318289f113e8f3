import ClockZones
import Essentials
import TerminalText
import UsageState

/// Draws a series as an area of braille dots, two by four in a cell, and what is expected of it as a dashed line; below
/// it an axis with resets and times at which the limit was reached, and days or hours.
struct BraillePlot {
    let series: PlotSeries
    var forecast: PlotForecast?
    var measure = ViewOptions.Measure.used
    /// The drawn time; samples outside are left out.
    let span: ClosedRange<Date>
    var cursor: Date?
    let times: TimeFormatter

    private static let axisCells = 5
    /// Percentages used where the level changes.
    private static let thresholds = [75.0, 90.0]
    /// The first scalar of the braille patterns; the bits of its dots by column and row.
    private static let blank: UInt32 = 0x2800
    private static let bits: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
    /// Lines below the rows: the axis and its labels.
    static let axisLines = 2

    /// Lines of at most `width` cells: `rows` of the plot, then the axis and what is written below it.
    func lines(width: Int, rows: Int) -> [StyledLine] {
        let count = width - Self.axisCells
        guard count >= 8, rows >= 2, span.upperBound > span.lowerBound else { return [] }
        let area = columns(count * 2)
        let cells = columns(count)
        let dashes = dashes(rows: rows * 4, columns: area.values.count)
        let thresholdRows = Set(Self.thresholds.map { row(ofUsed: $0, count: rows * 4) / 4 })
        let (now, cursor) = (cells.column(of: times.now), cursor.flatMap(cells.column))
        let plot = (0..<rows).map { row in
            var line = StyledLine(axisLabel(row, rows: rows), .dim)
            for column in 0..<count {
                let pair = [column * 2, column * 2 + 1]
                let values = pair.map { area.values[$0] }
                let filled = braille(row) { x, y in values[x].map { covers($0, y, rows: rows * 4) } ?? false }
                let dashed = braille(row) { x, y in dashes[pair[x]].rows.contains(y) }
                if let filled {
                    line.append(filled, .level(usedPercent: values.compactMap { $0?.used }.max() ?? 0))
                } else if let dashed {
                    line.append(dashed, .level(usedPercent: pair.map { dashes[$0].used }.max() ?? 0))
                } else if column == cursor || column == now {
                    line.append("│", column == cursor ? .bold : .dim)
                } else {
                    line.append(thresholdRows.contains(row) ? "┈" : " ", .faint)
                }
            }
            return line
        }
        return plot + [axis(cells), labels(cells)]
    }

    /// What is drawn of the column with a time; nil if nothing is known there.
    func used(at date: Date, width: Int) -> Double? {
        let columns = columns(width - Self.axisCells)
        return columns.column(of: date).flatMap { columns.values[$0]?.used }
    }

    private func columns(_ count: Int) -> PlotColumns {
        PlotColumns(series, count: count, from: span.lowerBound, to: span.upperBound)
    }

    // MARK: - Dots

    /// The dots of a cell; nil without any.
    private func braille(_ row: Int, _ isSet: (_ x: Int, _ y: Int) -> Bool) -> String? {
        var bits: UInt32 = 0
        for (x, column) in Self.bits.enumerated() {
            for (y, bit) in column.enumerated() where isSet(x, row * 4 + y) { bits |= bit }
        }
        return bits == 0 ? nil : Unicode.Scalar(Self.blank + bits).map { String($0) }
    }

    /// The dot row of a percentage, 0 at the top; clamped to the plot.
    private static func row(of percent: Double, count: Int) -> Int {
        let part = min(max(percent, 0), 100) / 100
        return count - 1 - Int((part * Double(count - 1)).rounded())
    }

    private func row(ofUsed used: Double, count: Int) -> Int {
        Self.row(of: measure == .used ? used : 100 - used, count: count)
    }

    /// An area down to the axis, or a thin line where values are joined.
    private func covers(_ value: PlotColumns.Value, _ y: Int, rows: Int) -> Bool {
        let top = row(ofUsed: value.used, count: rows)
        return value.isJoined ? y == top : y >= top
    }

    /// The rows that the forecast has a dot in, by dot columns.
    private func dashes(rows: Int, columns: Int) -> [(rows: Set<Int>, used: Double)] {
        let length = span.upperBound.timeIntervalSince(span.lowerBound) / Double(columns)
        let first = forecast?.points.first.map { row(ofUsed: $0.percent, count: rows) } ?? 0
        return (0..<columns).map { x in
            let date = span.lowerBound.addingTimeInterval(Double(x) * length)
            guard let forecast, let end = forecast.reset, let used = forecast.percent(at: date) else { return ([], 0) }
            let next = forecast.percent(at: min(end, date.addingTimeInterval(length))) ?? used
            let (from, to) = (row(ofUsed: used, count: rows), row(ofUsed: next, count: rows))
            // Two dots and two blanks, along a steep line too.
            let dots = (min(from, to)...max(from, to)).filter { (x + abs($0 - first)) / 2 % 2 == 0 }
            return (Set(dots), used)
        }
    }

    // MARK: - Axes

    private func axisLabel(_ row: Int, rows: Int) -> String {
        let label = [0, 50, 100].last { Self.row(of: Double($0), count: rows * 4) / 4 == row }
        return (label.map { "\($0)" } ?? "").padded(toCells: Self.axisCells - 1, alignment: .trailing) + " "
    }

    /// "┴" at resets, "!" where the limit was reached, which wins, and "↑" at the cursor.
    private func axis(_ cells: PlotColumns) -> StyledLine {
        var marks = [Character](repeating: "─", count: cells.values.count)
        for date in series.resets + [forecast?.reset].compactMap({ $0 }) {
            if let column = cells.column(of: date) { marks[column] = "┴" }
        }
        for date in series.reached { if let column = cells.column(of: date) { marks[column] = "!" } }
        if let column = cursor.flatMap(cells.column) { marks[column] = "↑" }
        var line = StyledLine(String(repeating: " ", count: Self.axisCells))
        for mark in marks {
            line.append(String(mark), mark == "!" ? .level(usedPercent: 100) : mark == "↑" ? .bold : .dim)
        }
        return line
    }

    /// The name of each day where it begins, or of times of the day, as far as there is room.
    private func labels(_ cells: PlotColumns) -> StyledLine {
        let length = span.upperBound.timeIntervalSince(span.lowerBound)
        let day = 86_400.0
        // The widest label is "12:00 PM", with two blanks.
        let room = Double(cells.values.count) / 10
        let step = length >= 2 * day ? day : [3_600, 7_200, 10_800, 21_600].first { length / $0 <= room } ?? day / 2
        var line = StyledLine(String(repeating: " ", count: Self.axisCells))
        let offset = Double(times.zone.secondsFromGMT(at: span.lowerBound))
        let first = ((span.lowerBound.timeIntervalSince1970 + offset) / step).rounded(.up) * step - offset
        for begin in stride(from: first, to: span.upperBound.timeIntervalSince1970, by: step) {
            let date = Date(timeIntervalSince1970: begin)
            let isDay = (begin + offset).truncatingRemainder(dividingBy: day) == 0
            // An hour later it is that day, whatever the clocks have been set to.
            let name = isDay ? String(times.day(date.addingTimeInterval(3_600)).prefix(3)) : times.time(date)
            guard let column = cells.column(of: date), line.cells <= Self.axisCells + column,
                column + name.count <= cells.values.count
            else { continue }
            line.pad(toCells: Self.axisCells + column)
            line.append(name + " ", .dim)
        }
        return line.withoutTrailingSpaces
    }
}
