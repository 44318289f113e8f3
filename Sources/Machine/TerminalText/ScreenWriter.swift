/// Turns successive screens into what a terminal must receive: only the cells that changed.
///
/// A value without a terminal: `draw` returns the text to write. It assumes that all of it arrives; call `forget` if it
/// did not, or if anything else may have written to the terminal. Nothing is returned as long as nothing changes.
///
/// The cursor is left anywhere, and the style plain.
package struct ScreenWriter: Sendable {
    /// Whether updates are marked, for terminals that then show them at once.
    package var isSynchronized = false
    private let isColored: Bool
    /// What the terminal shows; nil if unknown.
    private var shown: Screen?

    private struct Screen {
        var lines: [StyledLine]
        var columns: Int
        var rows: Int
    }

    package init(isColored: Bool) { self.isColored = isColored }

    /// The next screen is drawn in full.
    package mutating func forget() { shown = nil }

    /// What makes the terminal show the lines, cut to its size. In full after a change of the size, because terminals
    /// move text then, each in its own way.
    package mutating func draw(_ lines: [StyledLine], columns: Int, rows: Int) -> String {
        let next = Screen(lines: Array(lines.prefix(rows)), columns: columns, rows: rows)
        var update = ScreenUpdate()
        var old: [StyledLine] = []
        if let shown, shown.columns == columns, shown.rows == rows {
            old = shown.lines
        } else {
            update.clear()
        }
        for row in 0..<max(old.count, next.lines.count) {
            let (before, after) = (Self.line(row, of: old), Self.line(row, of: next.lines))
            guard before != after else { continue }
            update.change(
                row: row,
                from: ScreenCell.cells(of: before, columns: columns, isColored: isColored),
                to: ScreenCell.cells(of: after, columns: columns, isColored: isColored),
                columns: columns)
        }
        shown = next
        let text = update.finished()
        guard isSynchronized, !text.isEmpty else { return text }
        return ANSI.beginSynchronizedUpdate + text + ANSI.endSynchronizedUpdate
    }

    private static func line(_ row: Int, of lines: [StyledLine]) -> StyledLine {
        row < lines.count ? lines[row] : StyledLine()
    }
}

/// The text of one update, with the state in which it leaves the terminal.
private struct ScreenUpdate {
    private var text = ""
    private var style = TextStyle.plain
    /// Where the cursor is; nil if terminals disagree about it.
    private var cursor: (row: Int, column: Int)?

    /// Up to as many unchanged cells are written again instead of moving over them.
    private static let shortGap = 3

    mutating func clear() { text += ANSI.clearScreen }

    mutating func finished() -> String {
        apply(.plain)
        return text
    }

    /// Both rows end with their last cell that is not blank.
    mutating func change(row: Int, from old: [ScreenCell], to new: [ScreenCell], columns: Int) {
        func before(_ column: Int) -> ScreenCell { column < old.count ? old[column] : .blank }
        // A terminal that takes more cells than expected has drawn over the following one.
        var isFollowing = false
        for (column, cell) in new.enumerated() where !cell.text.isEmpty {
            let former = before(column)
            guard cell != former || isFollowing else { continue }
            isFollowing = !cell.isCertain || !former.isCertain && !former.text.isEmpty
            move(toRow: row, column: column, over: new)
            apply(cell.style)
            let width = column + 1 < new.count && new[column + 1].text.isEmpty ? 2 : 1
            // A terminal that takes fewer cells than expected would leave the second one.
            if width == 2, before(column + 1) != .blank { text += ANSI.erase(cells: 2) }
            text += cell.text
            let end = column + width
            cursor = cell.isCertain && end < columns ? (row, end) : nil
        }
        guard old.count > new.count || isFollowing && new.count < columns else { return }
        move(toRow: row, column: new.count, over: new)
        apply(.plain)
        text += ANSI.eraseToEndOfLine
    }

    private mutating func move(toRow row: Int, column: Int, over cells: [ScreenCell]) {
        defer { cursor = (row, column) }
        guard let cursor, cursor.row == row, cursor.column <= column else {
            text += ANSI.move(toRow: row, column: column)
            return
        }
        let gap = cells[cursor.column..<column]
        if gap.isEmpty { return }
        if gap.count <= Self.shortGap, gap.allSatisfy({ $0.isASCII && $0.style == style }) {
            text += gap.map(\.text).joined()
        } else {
            text += ANSI.moveRight(cells: gap.count)
        }
    }

    private mutating func apply(_ next: TextStyle) {
        text += ANSI.change(from: style, to: next)
        style = next
    }
}
