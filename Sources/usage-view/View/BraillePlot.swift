import ClockZones
import Essentials
import TerminalText
import UsageState

/// Draws a series with the dots of braille characters, two by four in a cell: the percent used, the thresholds, and
/// below it resets, times at which the limit was reached, and days.
struct BraillePlot {
    let series: PlotSeries
    /// The drawn time; samples outside are left out.
    let start: Date
    let end: Date
    let times: TimeFormatter

    private static let axisCells = 5
    /// Percentages with a line: where the level changes.
    private static let thresholds = [75.0, 90.0]
    /// The first scalar of the braille patterns; the bits of its dots by column and row.
    private static let blank: UInt32 = 0x2800
    private static let bits: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]

    /// Lines of at most `width` cells: `rows` of the plot, then one for the marks and one for the days.
    func lines(width: Int, rows: Int) -> [StyledLine] {
        let columns = width - Self.axisCells
        guard columns >= 8, rows >= 2, end > start else { return [] }
        let dots = dots(columns: columns, rows: rows)
        let thresholdRows = Self.thresholds.map { Self.row(of: $0, count: rows * 4) / 4 }
        let plot = (0..<rows).map { row in
            var line = StyledLine(axisLabel(row, rows: rows), .dim)
            for (column, bits) in dots[row].enumerated() {
                if bits > 0, let scalar = Unicode.Scalar(Self.blank + bits) {
                    line.append(String(scalar))
                } else {
                    line.append(thresholdRows.contains(row) && column % 2 == 0 ? "·" : " ", .dim)
                }
            }
            return line
        }
        return plot + [marks(columns: columns), days(columns: columns)]
    }

    /// The cell column of a time; nil outside of the plot.
    private func column(of date: Date, of count: Int) -> Int? {
        let part = date.timeIntervalSince(start) / end.timeIntervalSince(start)
        guard part >= 0, part <= 1 else { return nil }
        return min(count - 1, Int(part * Double(count)))
    }

    /// The dot row of a percentage, 0 at the top; clamped to the plot.
    private static func row(of percent: Double, count: Int) -> Int {
        let part = min(max(percent, 0), 100) / 100
        return count - 1 - Int((part * Double(count - 1)).rounded())
    }

    private func dots(columns: Int, rows: Int) -> [[UInt32]] {
        var cells = [[UInt32]](repeating: [UInt32](repeating: 0, count: columns), count: rows)
        func set(_ x: Int, _ y: Int) { cells[y / 4][x / 2] |= Self.bits[x % 2][y % 4] }
        var former: (x: Int, y: Int)?
        for sample in series.samples {
            guard let percent = sample.percent, percent.isFinite,
                let x = column(of: sample.date, of: columns * 2)
            else {
                former = nil
                continue
            }
            let y = Self.row(of: percent, count: rows * 4)
            if let former {
                // The value holds until the next one.
                for between in former.x...max(former.x, x) { set(between, former.y) }
                for between in min(former.y, y)...max(former.y, y) { set(x, between) }
            }
            set(x, y)
            former = (x, y)
        }
        return cells
    }

    private func axisLabel(_ row: Int, rows: Int) -> String {
        var label = ""
        for percent in [0, 50, 75, 90, 100]
        where Self.row(of: Double(percent), count: rows * 4) / 4 == row {
            label = "\(percent)"
        }
        return label.padded(toCells: Self.axisCells - 1, alignment: .trailing) + " "
    }

    /// "r" below resets and "!" where the limit was reached, which wins.
    private func marks(columns: Int) -> StyledLine {
        var marks = [Character](repeating: " ", count: columns)
        for date in series.resets { if let column = column(of: date, of: columns) { marks[column] = "r" } }
        for date in series.reached { if let column = column(of: date, of: columns) { marks[column] = "!" } }
        var line = StyledLine(String(repeating: " ", count: Self.axisCells))
        for mark in marks {
            line.append(String(mark), mark == "!" ? .colored(.red) : .dim)
        }
        return line.withoutTrailingSpaces
    }

    /// Each day's name where it begins, as far as there is room.
    private func days(columns: Int) -> StyledLine {
        var line = StyledLine(String(repeating: " ", count: Self.axisCells))
        let offset = Double(times.zone.secondsFromGMT(at: start))
        let first = ((start.timeIntervalSince1970 + offset) / 86_400).rounded(.up) * 86_400 - offset
        for begin in stride(from: first, to: end.timeIntervalSince1970, by: 86_400) {
            let date = Date(timeIntervalSince1970: begin)
            guard let column = column(of: date, of: columns) else { continue }
            let name = String(times.day(date.addingTimeInterval(3_600)).prefix(3))
            guard line.cells <= Self.axisCells + column, column + name.count <= columns else { continue }
            line.pad(toCells: Self.axisCells + column)
            line.append(name + " ", .dim)
        }
        return line.withoutTrailingSpaces
    }
}
