import TerminalText

/// Lays out one row of a card.
enum RowLines {
    static func lines(
        for row: CardRow, columns: RowColumns, width: Int
    ) -> [StyledLine] {
        var line = StyledLine()
        line.pad(toCells: RowColumns.indent)
        line.append(row.label.truncated(toCells: columns.labelCells))
        line.pad(toCells: columns.barColumn)
        switch row.content {
        case .text(let text, let style):
            let pieces = RowColumns.wrapped(text, width: width - columns.barColumn)
            return pieces.enumerated().map { index, piece in
                index == 0 ? line.followed(by: piece, style) : below(piece, style, columns)
            }
        case .gauge(let percent, let text, let style, let note):
            line.append(
                Bar.line(percent: percent, cells: columns.barCells, style: style))
            line.append(String(repeating: " ", count: RowColumns.gap))
            line.append(
                text.padded(toCells: columns.percentCells, alignment: .trailing), style)
            return gauge(line, note: note, columns: columns, width: width)
        }
    }

    private static func gauge(
        _ line: StyledLine, note: CardRow.Note, columns: RowColumns, width: Int
    ) -> [StyledLine] {
        let gap = String(repeating: " ", count: RowColumns.gap)
        let inline: String
        var underneath: String
        switch columns.form {
        case .oneLine: (inline, underneath) = (RowColumns.joined(note.reset, note.details), "")
        case .detailsBelow: (inline, underneath) = (note.reset, note.details)
        case .allBelow: (inline, underneath) = ("", RowColumns.joined(note.reset, note.details))
        }
        // Without a reset the details have its place, as far as they fit.
        if inline.isEmpty, !underneath.isEmpty,
            line.cells + gap.count + CellWidth.of(underneath) <= width
        {
            return [line.followed(by: gap + underneath, .plain)]
        }
        let first = inline.isEmpty ? line : line.followed(by: gap + inline, .plain)
        let rest = RowColumns.wrapped(underneath, width: width - columns.barColumn)
        return [first] + rest.map { below($0, .dim, columns) }
    }

    private static func below(
        _ text: String, _ style: TextStyle, _ columns: RowColumns
    ) -> StyledLine {
        var line = StyledLine()
        line.pad(toCells: columns.barColumn)
        return line.followed(by: text, style)
    }
}

extension StyledLine {
    func followed(by text: String, _ style: TextStyle) -> StyledLine {
        var line = self
        line.append(text, style)
        return line
    }
}
