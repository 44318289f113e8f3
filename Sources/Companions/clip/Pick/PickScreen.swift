import Commands
import Essentials
import TerminalText

/// The screen of `clip pick`. Everything from the history is escaped here.
struct PickScreen {
    let state: PickState
    let now: Date
    /// Whether a color can be shown beside its name.
    let isColored: Bool

    private var columns: Int { state.size.columns }

    /// As many as the terminal has rows, and no wider.
    var lines: [StyledLine] {
        var lines = [queryLine]
        switch state.overlay {
        case .help: lines += PickKeys.lines(width: columns)
        case .clearing: lines += clearing
        case nil: lines += list
        }
        let preview = state.overlay == nil ? preview : []
        let rows = max(1, state.size.rows ?? 24)
        let room = max(0, rows - 1 - preview.count)
        lines = Array(lines.prefix(room))
        lines += Array(repeating: StyledLine(), count: room - lines.count)
        return (lines + preview + [statusLine]).map { $0.truncated(toCells: columns) }
    }

    // MARK: Lines around the list

    private var queryLine: StyledLine {
        let found = state.query.isEmpty ? "" : "\(state.hits.count) of "
        let count = "\(found)\(state.keys.count) · \(state.mode.rawValue)"
        var line = StyledLine("› ", .colored(.cyan))
        let room = max(1, columns - 5 - CellWidth.of(count))
        // Its end is where it is typed.
        var shown = VisibleText.escape(String(state.query.suffix(room)))
        while CellWidth.of(shown) > room { shown.removeFirst() }
        line.append(shown, .bold)
        line.append("▏")
        if state.query.isEmpty { line.append("type to search", .dim) }
        line.pad(toCells: columns - CellWidth.of(count))
        line.append(count, .dim)
        return line
    }

    private var statusLine: StyledLine {
        if let message = state.message { return StyledLine(VisibleText.escape(message), .bold) }
        if let reason = state.invalidPattern {
            return StyledLine("invalid pattern: \(VisibleText.escape(reason))", .colored(.red))
        }
        if state.isCutShort {
            return StyledLine(
                "the search took too long: items are missing; use a simpler expression", .colored(.yellow))
        }
        return StyledLine(state.overlay == nil ? PickKeys.hint : "", .dim)
    }

    private var clearing: [StyledLine] {
        let pinned = state.history.items.values.count(where: \.isPinned)
        let count = state.keys.count - pinned
        var text = ["", "Remove \(counted(count, "item")) from the history?"]
        if !state.query.isEmpty { text.append("Also those that the search does not show.") }
        if pinned > 0 { text.append("\(counted(pinned, "pinned item")) would stay.") }
        text += ["", "y    remove \(counted(count, "item"))"]
        if pinned > 0 { text.append("a    remove all \(state.keys.count), pinned ones too") }
        text.append("Any other key keeps them.")
        return text.map { StyledLine("  " + $0) }
    }

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    // MARK: The list

    private var list: [StyledLine] {
        guard !state.hits.isEmpty else {
            return state.keys.isEmpty
                ? [StyledLine("  The history is empty.", .dim)]
                : [StyledLine("  No items match.", .dim), StyledLine("  \(PickState.addHint).", .dim)]
        }
        let digits = state.digits
        let selected = state.selectedIndex
        let end = min(state.top + state.listRows, state.hits.count)
        return (state.top..<end).map { row(state.hits[$0], digits[$0], isSelected: $0 == selected) }
    }

    private func row(_ hit: SearchHit, _ digit: Int?, isSelected: Bool) -> StyledLine {
        guard let item = state.item(at: hit), let label = state.label(at: hit) else { return StyledLine() }
        var base = TextStyle.plain
        if isSelected { base = .colored(.cyan) }
        var line = StyledLine(isSelected ? "› " : "  ", base)
        if item.isPinned {
            let letter = item.pin.pin?.letter.map { String($0.character) }
            line.append((letter ?? "*") + " ", .colored(.yellow))
        } else {
            line.append((digit.map(String.init) ?? " ") + " ", .dim)
        }
        if label.isTitle, isColored, let color = HexColor(label.text) {
            var swatch = TextStyle.plain
            swatch.rgb = TextStyle.RGB(red: color.red, green: color.green, blue: color.blue)
            line.append("██ ", swatch)
        }
        let note = label.note.isEmpty ? "" : VisibleText.escape("  " + label.note)
        let room = max(8, columns - line.cells - CellWidth.of(note))
        let style = label.isTitle ? base : base.color == nil ? .dim : base
        line.append(title(label.text, label.isTitle ? hit.highlights : [], style, room).truncated(toCells: room))
        line.append(note, .dim)
        return line
    }

    /// At most one character more than there are cells, with what was found.
    private func title(_ text: String, _ highlights: [Range<Int>], _ style: TextStyle, _ cells: Int) -> StyledLine {
        var line = StyledLine()
        var rest = text.prefix(cells + 1)
        var offset = 0
        func append(upTo end: Int, _ style: TextStyle) {
            guard end > offset else { return }
            line.append(VisibleText.escape(String(rest.prefix(end - offset))), style)
            rest = rest.dropFirst(end - offset)
            offset = end
        }
        let found = style.highlighted(state.settings.highlight)
        for range in highlights.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            append(upTo: range.lowerBound, style)
            append(upTo: range.upperBound, found)
        }
        append(upTo: cells + 1, style)
        return line
    }

    // MARK: The preview

    private var preview: [StyledLine] {
        guard state.previewRows > 0 else { return [] }
        let item = state.selection.flatMap { state.history.items[$0] }
        let facts = item.map(facts) ?? ""
        var rule = StyledLine(facts.isEmpty ? "──" : "── \(VisibleText.escape(facts)) ", .dim)
        rule.append(String(repeating: "─", count: max(0, columns - rule.cells)), .dim)
        let limit = state.previewRows - 1
        let text = item.map(ItemTitle.preview) ?? ""
        var lines = VisibleText.escapedLines(text.replacing("\t", with: "    "), limit: limit).map { StyledLine($0) }
        lines += Array(repeating: StyledLine(), count: limit - lines.count)
        return [rule] + lines
    }

    /// What a preview says before the text. Not escaped.
    private func facts(of item: ClipItem) -> String {
        let copies = item.copyCount
        let facts = [
            item.lineCount > 1 ? "\(item.lineCount) lines" : nil, copies > 1 ? "copied \(copies) times" : "copied",
            DurationFormatter.age(of: item.lastCopied.date, at: now), "on \(item.origin.device)",
            item.origin.application.map { "in \($0)" },
        ]
        return facts.compactMap { $0 }.joined(separator: " · ")
    }
}

extension ClipItem {
    /// Counts the lines of its text, or of the beginning of it where there is no more. A final line end begins no line.
    fileprivate var lineCount: Int {
        let bytes = contents?[.text] ?? Data(ItemTitle.preview(of: self).utf8)
        let newline = UInt8(ascii: "\n")
        let ends = bytes.reduce(0) { $0 + ($1 == newline ? 1 : 0) }
        return ends + (bytes.isEmpty || bytes.last == newline ? 0 : 1)
    }
}

extension TextStyle {
    fileprivate func highlighted(_ style: HighlightStyle) -> TextStyle {
        var copy = self
        switch style {
        case .bold: copy.isBold = true
        case .color: copy.isReversed = true
        case .italic: copy.isItalic = true
        case .underline: copy.isUnderlined = true
        }
        return copy
    }
}

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

    /// With less room without Maccy's keys, then with each meaning below its key.
    static func lines(width: Int) -> [StyledLine] {
        let keys = (table.map { CellWidth.of($0.key) }.max() ?? 0) + 4
        let meanings = (table.map { CellWidth.of($0.meaning) }.max() ?? 0) + 2
        let showsMaccy = keys + meanings + (table.map { CellWidth.of($0.maccy) }.max() ?? 0) <= width
        var heading = StyledLine("  Key", .bold)
        if showsMaccy {
            heading.pad(toCells: keys + meanings)
            heading.append("In Maccy", .bold)
        }
        return [heading]
            + table.flatMap { row in
                var line = StyledLine("  \(row.key)", .bold)
                guard keys + meanings - 2 <= width else {
                    return [line] + row.meaning.wrapped(toCells: max(1, width - 4)).map { StyledLine("    " + $0) }
                }
                line.pad(toCells: keys)
                line.append(row.meaning)
                if showsMaccy {
                    line.pad(toCells: keys + meanings)
                    line.append(row.maccy, .dim)
                }
                return [line]
            }
    }
}

/// A color that is all there is to a text, as three or six hexadecimal digits with or without #.
struct HexColor: Hashable, Sendable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    init?(_ text: String) {
        let digits = (text.hasPrefix("#") ? text.dropFirst() : text[...]).prefix(7)
        let values = digits.compactMap { $0.isASCII ? $0.hexDigitValue.map(UInt8.init) : nil }
        guard values.count == digits.count else { return nil }
        switch values.count {
        case 3: (red, green, blue) = (values[0] * 17, values[1] * 17, values[2] * 17)
        case 6:
            red = values[0] << 4 | values[1]
            green = values[2] << 4 | values[3]
            blue = values[4] << 4 | values[5]
        default: return nil
        }
    }
}
