import TerminalText

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
