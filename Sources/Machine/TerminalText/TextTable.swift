/// Columns for command output: no borders, two spaces between columns, one line per row.
package struct TextTable: Sendable {
    package struct Column: Sendable {
        package var title: String
        package var alignment: TextAlignment
        /// Shrinks first when the table is wider than allowed.
        package var isFlexible: Bool

        package init(_ title: String, alignment: TextAlignment = .leading, isFlexible: Bool = false) {
            self.title = title
            self.alignment = alignment
            self.isFlexible = isFlexible
        }
    }

    package var columns: [Column]
    private var rows: [(cells: [String], style: TextStyle)] = []

    package init(columns: [Column]) {
        self.columns = columns
    }

    /// Escapes and adds a row. Missing cells are empty, surplus ones are ignored.
    package mutating func append(_ cells: [String], _ style: TextStyle = .plain) {
        rows.append((columns.indices.map { $0 < cells.count ? VisibleText.escape(cells[$0]) : "" }, style))
    }

    /// The titles, unless all are empty, and the rows, without trailing spaces. Given a `width`, flexible columns
    /// shrink to no less than 8 cells; then rows are cut.
    package func lines(width: Int? = nil) -> [String] { styledLines(width: width).map(\.plainText) }

    /// Those lines, with the titles in bold.
    package func styledLines(width: Int?) -> [StyledLine] {
        let widths = columnWidths(limit: width)
        let titles = columns.map(\.title)
        let all = titles.allSatisfy(\.isEmpty) ? rows : [(titles, .bold)] + rows
        return all.map { cells, style in
            var line = ""
            for (index, cell) in cells.enumerated() {
                if index > 0 { line += Self.gap }
                line += cell.fitted(toCells: widths[index], alignment: columns[index].alignment)
            }
            let end = line.lastIndex { $0 != " " }.map { line.index(after: $0) }
            let trimmed = String(line[..<(end ?? line.startIndex)])
            return StyledLine(width.map { trimmed.truncated(toCells: $0) } ?? trimmed, style)
        }
    }

    /// The width below which rows are cut.
    package var narrowestWidth: Int { columnWidths(limit: 0).reduce(0, +) + Self.gap.count * max(0, columns.count - 1) }

    private static let gap = "  "
    private static let narrowest = 8

    private func columnWidths(limit: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(CellWidth.of(columns[index].title)) { max($0, CellWidth.of($1.cells[index])) }
        }
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * max(0, widths.count - 1) - limit
        for index in columns.indices where columns[index].isFlexible && excess > 0 {
            let cut = min(excess, max(0, widths[index] - Self.narrowest))
            widths[index] -= cut
            excess -= cut
        }
        return widths
    }
}
