import TerminalText

/// Draws a model into a rectangle.
enum ScreenLayout {
    /// Below this the shortest form is drawn.
    static let smallestColumns = 40
    static let smallestRows = 10
    /// One column of cards per this many cells, `gap` between them.
    static let columnCells = 45
    static let gap = 4
    /// Text lines get no longer than this.
    static let widestText = 90

    static func screen(for model: ViewModel, size: ScreenSize) -> Screen {
        let isSmall =
            size.columns < smallestColumns || (size.rows.map { $0 < smallestRows } ?? false)
        var lines =
            isSmall ? ShortForm.lines(for: model, size: size) : fullForm(for: model, size: size)
        if let rows = size.rows, lines.count > rows { lines = Array(lines.prefix(rows)) }
        lines = lines.map { $0.truncated(toCells: max(0, size.columns)) }
        return Screen(lines: model.options.isUnicode ? lines : lines.map(ASCIIForm.line))
    }

    private static func fullForm(for model: ViewModel, size: ScreenSize) -> [StyledLine] {
        let textWidth = min(size.columns, widestText)
        guard model.situation == .ready else {
            return NothingMessage.lines(for: model, width: textWidth)
        }
        let providers = model.providers
        let fitting = (size.columns + gap) / (columnCells + gap)
        let columnCount = max(1, min(fitting, providers.count))
        let width = min(widestText, (size.columns - gap * (columnCount - 1)) / columnCount)
        let rows = providers.map { ProviderRows(provider: $0, model: model) }
        let columns = RowColumns(fitting: rows.flatMap(\.rows), width: width)
        let cards = rows.map { $0.lines(columns: columns, width: width) }

        var lines = stacked(cards, columnCount: columnCount, width: width)
        lines.append(StyledLine())
        lines += DeviceLines.lines(for: model, width: textWidth)
        return lines
    }

    /// Cards side by side: each goes to the column that is shortest so far.
    private static func stacked(
        _ cards: [[StyledLine]], columnCount: Int, width: Int
    ) -> [StyledLine] {
        var columns: [[StyledLine]] = Array(repeating: [], count: columnCount)
        for card in cards {
            let shortest = columns.indices.min { columns[$0].count < columns[$1].count } ?? 0
            if !columns[shortest].isEmpty { columns[shortest].append(StyledLine()) }
            columns[shortest] += card
        }
        let height = columns.map(\.count).max() ?? 0
        return (0..<height).map { row in
            var line = StyledLine()
            for (index, column) in columns.enumerated() where row < column.count {
                line.pad(toCells: index * (width + gap))
                line.append(column[row].truncated(toCells: width))
            }
            return line
        }
    }
}
