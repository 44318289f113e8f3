import TerminalText
import UsageState

/// The live screen: a scrollable window on the model's screen, and a footer with the keys.
enum LiveScreen {
    /// Fits the state to the screen.
    static func screen(
        for model: ViewModel, state: inout LiveState, size: ScreenSize
    ) -> Screen {
        let rows = max(1, size.rows ?? Int.max)
        // A low pane has no row to spare for keys, and its form fits by itself.
        guard rows >= ScreenLayout.smallestRows else {
            let screen = ScreenLayout.screen(for: model, size: size)
            state.fit(contentLines: screen.count, rows: rows)
            return screen
        }
        let content =
            state.isHelpShown
            ? help
            : ScreenLayout.screen(
                for: model, size: ScreenSize(columns: size.columns, rows: nil))
        state.fit(contentLines: content.count, rows: rows - 1)
        var lines = Array(content.dropFirst(state.firstLine).prefix(rows - 1))
        let hidden = content.count - state.firstLine - lines.count
        lines += Array(repeating: StyledLine(), count: rows - 1 - lines.count)
        lines.append(footer(state, hidden: hidden))
        return ScreenLayout.fitted(lines, for: model, size: size)
    }

    private static func footer(_ state: LiveState, hidden: Int) -> StyledLine {
        var line = StyledLine("? help  q quit", .dim)
        if hidden > 0 {
            line.append("  ↓ \(hidden) more", .bold)
        } else if state.firstLine > 0 {
            line.append("  ↑ more", .bold)
        }
        let options = state.options
        let times = options.isAbsolute ? "clock times" : "countdowns"
        let order = options.sortOrder == .name ? "by name" : "tightest first"
        return line.appending("  \(options.measure.rawValue) · \(times) · \(order)", .dim)
    }

    private static let help =
        section(
            "Keys",
            [
                ("u", "switch between used and left"),
                ("a", "switch between countdowns and clock times"),
                ("s", "sort by name or tightest first"),
                ("↑ ↓", "scroll; also j k, page keys, home, end"),
                ("?", "show or hide this help"),
                ("q", "quit"),
            ]) + [StyledLine()]
        + section(
            "Terms",
            [
                ("as of", "a cached reading, as old as shown"),
                ("pace", "use compared with elapsed time"),
            ])

    private static func section(_ title: String, _ entries: [(String, String)]) -> [StyledLine] {
        [StyledLine(title, .bold)]
            + entries.map { term, meaning in
                var line = StyledLine("  " + term, .bold)
                line.pad(toCells: 9)
                return line.appending(meaning)
            }
    }
}
