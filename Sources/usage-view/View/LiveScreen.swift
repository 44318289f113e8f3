import TerminalText

/// The live screen: the model's screen in a window that scrolls, and one line of keys below.
enum LiveScreen {
    /// Lines of content and rows for it, as `LiveState` needs them.
    struct Extent: Sendable, Equatable {
        var contentLines: Int
        var rows: Int
    }

    static func screen(
        for model: ViewModel, state: LiveState, size: ScreenSize
    ) -> (screen: Screen, extent: Extent) {
        let rows = max(1, size.rows ?? Int.max)
        // A low pane has no row to spare for keys, and its form fits by itself.
        guard rows >= ScreenLayout.smallestRows else {
            let screen = ScreenLayout.screen(for: model, size: size)
            return (screen, Extent(contentLines: screen.lines.count, rows: rows))
        }
        let content =
            state.isHelpShown
            ? Screen(lines: help.map { $0.truncated(toCells: size.columns) })
            : ScreenLayout.screen(
                for: model, size: ScreenSize(columns: size.columns, rows: nil))
        let room = rows - 1
        let extent = Extent(contentLines: content.lines.count, rows: room)
        var position = state
        position.clampScroll(contentLines: extent.contentLines, rows: room)
        var lines = Array(content.lines.dropFirst(position.firstLine).prefix(room))
        let hidden = extent.contentLines - position.firstLine - lines.count
        lines += Array(repeating: StyledLine(), count: room - lines.count)
        lines.append(
            footer(model: model, state: position, hidden: hidden)
                .truncated(toCells: size.columns))
        let ascii = !model.options.isUnicode
        return (Screen(lines: ascii ? lines.map(ASCIIForm.line) : lines), extent)
    }

    private static func footer(model: ViewModel, state: LiveState, hidden: Int) -> StyledLine {
        var line = StyledLine("? help  q quit", .dim)
        if hidden > 0 {
            line.append("  ↓ \(hidden) more", .bold)
        } else if state.firstLine > 0 {
            line.append("  ↑ more", .bold)
        }
        let options = state.options
        line.append(
            "  \(options.measure.rawValue) · "
                + (options.isAbsolute ? "clock times" : "countdowns")
                + " · by \(options.sortOrder == .name ? "name" : "what is tight")", .dim)
        return line
    }

    private static let help: [StyledLine] = {
        let keys = [
            ("u", "show what is used, or what is left"),
            ("a", "resets as countdowns, or as clock times"),
            ("s", "sort by name, or the tightest first"),
            ("↑ ↓", "scroll; also j k, page keys, home, end"),
            ("?", "this help, and back"),
            ("q", "quit"),
        ]
        var lines = [StyledLine("Keys", .bold)]
        for (key, meaning) in keys {
            var line = StyledLine("  " + key, .bold)
            line.pad(toCells: 9)
            lines.append(line.followed(by: meaning, .plain))
        }
        lines.append(StyledLine())
        lines.append(StyledLine("Words", .bold))
        let words = [
            ("as of", "an answer the tool had stored, as old as it says"),
            ("pace", "use compared with the time that has passed"),
        ]
        for (word, meaning) in words {
            var line = StyledLine("  " + word, .bold)
            line.pad(toCells: 9)
            lines.append(line.followed(by: meaning, .plain))
        }
        return lines
    }()
}
