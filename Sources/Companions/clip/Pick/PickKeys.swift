import TerminalText

/// The keys of `clip pick`, with those that Maccy has for the same.
enum PickKeys {
    static let hint = "F1 keys · Enter copy · ^D delete · ^T pin · ^X clear · Tab mode · Esc leave"

    private static let table: [(key: String, meaning: String, maccy: String)] = [
        ("Enter", "copy the selected item and leave", "Return"),
        ("Alt-V", "copy it without formatting", "Option-Shift-Return"),
        ("Alt-1 … Alt-9", "copy one of the first nine that are not pinned", "Command-1 …"),
        ("Alt-letter", "copy the item that is pinned with it", "Command-letter"),
        ("Control-Enter, Alt-Enter", "copy the query itself as a new item", "Return, if none match"),
        ("↑ ↓, ^P ^N, ^K ^J", "select another", "the same"),
        ("Page Up, Page Down, Home, End", "select one farther away", "the same"),
        ("^D, Delete", "delete the selected item", "Option-Delete"),
        ("^T", "pin or unpin it", "Option-P"),
        ("^X", "clear the history, after a question", "Option-Command-Delete"),
        ("Tab", "exact, fuzzy, regexp, mixed", "in the settings"),
        ("^U, ^H, ^W", "clear the query, delete a character, a word", "the same"),
        ("Esc", "clear the query, then leave", "the same"),
    ]

    static let lines: [StyledLine] = {
        let keys = table.map { CellWidth.of($0.key) }.max() ?? 0
        let meanings = table.map { CellWidth.of($0.meaning) }.max() ?? 0
        var heading = StyledLine("  Key", .bold)
        heading.pad(toCells: keys + meanings + 6)
        heading.append("In Maccy", .bold)
        return [heading]
            + table.map { row in
                var line = StyledLine("  \(row.key)", .bold)
                line.pad(toCells: keys + 4)
                line.append(row.meaning)
                line.pad(toCells: keys + meanings + 6)
                line.append(row.maccy, .dim)
                return line
            }
    }()
}
