import TerminalText
import UsageState

extension AmountTable {
    private static let widestName = 28
    private static let widestBar = 30

    /// The title with the names of the columns, and the rows.
    func lines(width: Int) -> [StyledLine] {
        let shape = Shape(self, width: width)
        return [shape.head] + rows.map(shape.line) + (moreCount > 0 ? [StyledLine("  … \(moreCount) more", .dim)] : [])
    }

    /// Where names, columns and bars are.
    struct Shape {
        private let table: AmountTable
        private let width: Int
        private let nameCells: Int
        private let columnCells: [Int]
        private let barCells: Int
        private let greatest: Double

        init(_ table: AmountTable, width: Int) {
            (self.table, self.width) = (table, width)
            columnCells = (table.rows.first?.texts ?? []).indices.map { column in
                let name = column < table.columns.count ? CellWidth.of(table.columns[column]) : 0
                return max(name, table.rows.map { CellWidth.of($0.texts[column]) }.max() ?? 0)
            }
            let columns = columnCells.reduce(0) { $0 + 2 + $1 }
            let widest = max(8, min(AmountTable.widestName, width - 2 - columns))
            nameCells = min(widest, table.rows.map { CellWidth.of($0.name) }.max() ?? 0)
            barCells = min(AmountTable.widestBar, width - 4 - nameCells - columns)
            greatest = table.rows.map(\.value).max() ?? 0
        }

        var head: StyledLine {
            var line = StyledLine(table.title, .bold)
            guard !table.columns.isEmpty, line.cells <= 2 + nameCells else { return line.truncated(toCells: width) }
            line.pad(toCells: 2 + nameCells)
            for (name, cells) in zip(table.columns, columnCells) {
                line.append("  " + name.padded(toCells: cells, alignment: .trailing), .dim)
            }
            return line.truncated(toCells: width)
        }

        /// A name, right-aligned columns, and a bar where there is room.
        func line(_ row: Row) -> StyledLine {
            var line = StyledLine("  " + row.name.fitted(toCells: nameCells))
            for (text, cells) in zip(row.texts, columnCells) {
                line.append("  " + text.padded(toCells: cells, alignment: .trailing))
            }
            let filled = greatest > 0 ? row.value / greatest * Double(barCells) : 0
            if barCells >= 4, filled.isFinite {
                line.append("  " + String(repeating: "█", count: Int(filled.rounded(.up))))
            }
            return line.truncated(toCells: width)
        }
    }
}
