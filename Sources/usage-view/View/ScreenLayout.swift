import Commands
import TerminalText
import UsageState

/// Draws a model for a size.
enum ScreenLayout {
    static let widestText = 90
    /// From here on accounts stand side by side.
    private static let leastColumnsForTwo = 160
    /// Cells per column of accounts, with `gap` between columns.
    private static let columnCells = 60
    private static let gap = 4

    /// Columns of accounts on a width.
    static func columnCount(_ width: Int, accounts: Int) -> Int {
        width < leastColumnsForTwo ? 1 : max(1, min(4, width / columnCells, accounts))
    }

    static func screen(for model: ViewModel, size: ScreenSize) -> Screen {
        fitted(lines(for: model, size: size), for: model, size: size)
    }

    /// The lines cut to the size, in ASCII if the locale supports nothing else.
    static func fitted(_ lines: [StyledLine], for model: ViewModel, size: ScreenSize) -> Screen {
        lines.map { line in
            let line = line.truncated(toCells: max(0, size.columns))
            return model.options.isUnicode ? line : line.inASCII
        }
    }

    /// The answer, the accounts and the devices. Where they do not fit, the answer is also last, where it is seen.
    private static func lines(for model: ViewModel, size: ScreenSize) -> [StyledLine] {
        let textWidth = min(size.columns, widestText)
        guard model.situation == .ready else { return EmptyState.lines(for: model, width: textWidth) }
        let answer = model.answer(cells: size.columns)
        let foot = [StyledLine()] + DeviceLines.lines(for: model, width: textWidth)
        let columnCount = columnCount(size.columns, accounts: model.providers.count)
        let width = min(widestText, (size.columns - gap * (columnCount - 1)) / columnCount)
        func lines(_ before: [StyledLine], _ after: [StyledLine]) -> [StyledLine] {
            let room = size.rows.map { max(1, $0 - before.count - after.count) }
            let accounts = AccountLines(model, columns: columnCount, width: width, rows: room)
            return before + stacked(accounts, columnCount: columnCount, width: width) + after
        }
        let full = lines([answer, StyledLine()], foot)
        guard let rows = size.rows, full.count > rows else { return full }
        let short = lines([answer], [])
        return short.count <= rows ? short : full + [StyledLine(), answer]
    }

    private static func stacked(_ accounts: AccountLines, columnCount: Int, width: Int) -> [StyledLine] {
        let stack = MasonryLayout(accounts.items, columns: columnCount)
        var lines = [StyledLine](repeating: StyledLine(), count: stack.height)
        // From the left, so that a line is only ever padded.
        for (place, account) in zip(stack.places, accounts.lines).sorted(by: { $0.0.column < $1.0.column }) {
            for (row, line) in account.enumerated() {
                lines[place.row + row].pad(toCells: place.column * (width + gap))
                lines[place.row + row].append(line.truncated(toCells: width))
            }
        }
        return lines
    }
}

/// Lines of styled text, top to bottom, none wider than the size they were drawn for.
typealias Screen = [StyledLine]

extension Screen {
    /// The lines for a pipe or a one-shot print, without trailing spaces.
    func text(isColored: Bool) -> String {
        map { line in
            let line = line.withoutTrailingSpaces.restyled(ViewSettings.Theme.terminal.style)
            return ANSI.render(line, isColored: isColored) + "\n"
        }.joined()
    }
}

extension EmptyState {
    /// Nothing where there is something to show.
    static func lines(for model: ViewModel, width: Int) -> [StyledLine] {
        guard let state = EmptyState(model) else { return [] }
        return model.text(state.title).wrapped(toCells: width).map { StyledLine($0, .bold) }
            + state.steps.flatMap { model.text($0).wrapped(toCells: width - 2).map { StyledLine("  " + $0) } }
    }
}
