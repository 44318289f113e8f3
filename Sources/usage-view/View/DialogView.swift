import TerminalText

/// The lines of a dialog: title, what was typed, entries, and a note.
struct DialogView {
    let lines: [StyledLine]
    /// The row of each shown entry.
    let places: [(row: Int, entry: Int)]

    init(dialog: Dialog, title: String, entries: [Dialog.Entry], note: [String], width: Int, rows: Int) {
        var lines = [StyledLine(title.truncated(toCells: width), .bold)]
        if dialog.hasInput {
            lines.append(StyledLine("> " + VisibleText.escape(dialog.text) + "_").truncated(toCells: width))
        }
        let notes = note.flatMap { $0.wrapped(toCells: width) }
        let room = max(1, rows - lines.count - (notes.isEmpty ? 0 : notes.count + 1))
        let viewport = Viewport(
            wanted: 0, rows: room, total: entries.count, selected: dialog.selected..<(dialog.selected + 1))
        let keyCells = min(18, entries.map { CellWidth.of($0.key) }.max() ?? 0)
        var places: [(row: Int, entry: Int)] = []
        for index in entries.indices.dropFirst(viewport.first).prefix(room) {
            let (entry, isSelected) = (entries[index], index == dialog.selected)
            var line = StyledLine(isSelected ? "▌ " : "  ", .bold)
            line.append(entry.key.fitted(toCells: keyCells) + "  ", .bold)
            line.append(entry.title, isSelected ? .bold : .plain)
            places.append((lines.count, index))
            lines.append(line.truncated(toCells: width))
        }
        if entries.isEmpty, dialog.hasInput, !dialog.text.isEmpty {
            lines.append(StyledLine("  nothing contains that", .dim))
        }
        if !notes.isEmpty { lines += [StyledLine()] + notes.map { StyledLine($0, .dim) } }
        self.lines = lines
        self.places = places
    }
}
