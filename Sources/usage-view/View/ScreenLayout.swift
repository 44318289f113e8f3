import Commands
import TerminalText
import UsageState

/// Draws a model for a size.
enum ScreenLayout {
    /// A smaller size gets the short form.
    private static let smallestColumns = 40
    static let smallestRows = 10
    /// Cells per column of cards, with `gap` between columns.
    private static let columnCells = 45
    private static let gap = 4
    static let widestText = 90

    static func screen(for model: ViewModel, size: ScreenSize) -> Screen {
        let isSmall = size.columns < smallestColumns || (size.rows.map { $0 < smallestRows } ?? false)
        return fitted(
            isSmall ? ShortForm.lines(for: model, size: size) : fullForm(for: model, size: size),
            for: model, size: size)
    }

    /// The lines cut to the size, in ASCII if the locale supports nothing else.
    static func fitted(_ lines: [StyledLine], for model: ViewModel, size: ScreenSize) -> Screen {
        lines.prefix(size.rows ?? .max).map { line in
            let line = line.truncated(toCells: max(0, size.columns))
            return model.options.isUnicode ? line : line.inASCII
        }
    }

    private static func fullForm(for model: ViewModel, size: ScreenSize) -> [StyledLine] {
        let textWidth = min(size.columns, widestText)
        guard model.situation == .ready else { return EmptyState.lines(for: model, width: textWidth) }
        let providers = model.providers
        let fitting = (size.columns + gap) / (columnCells + gap)
        let columnCount = max(1, min(fitting, providers.count))
        let width = min(widestText, (size.columns - gap * (columnCount - 1)) / columnCount)
        let cards = providers.map { ProviderCard($0, model: model) }
        let columns = RowColumns(fitting: cards.flatMap(\.rows), width: width)
        let lines = cards.map { $0.lines(columns: columns, width: width) }
        return stacked(lines, columnCount: columnCount, width: width) + [StyledLine()]
            + DeviceLines.lines(for: model, width: textWidth)
    }

    /// Cards side by side, each added to the column that is shortest so far.
    private static func stacked(_ cards: [[StyledLine]], columnCount: Int, width: Int) -> [StyledLine] {
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
