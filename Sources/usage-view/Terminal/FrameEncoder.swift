import TerminalText

/// Turns a screen into the bytes that paint it. With `TerminalSession`, the only code whose output
/// reaches a terminal in live mode.
enum FrameEncoder {
    /// Paints over whatever is there, line by line, without clearing first, so that nothing
    /// flickers. The last line ends without a line break, or a full screen would scroll.
    static func frame(for screen: Screen, isColored: Bool) -> String {
        var frame = ANSI.beginSynchronizedUpdate + ANSI.cursorHome
        for (index, line) in screen.lines.enumerated() {
            if index > 0 { frame += "\r\n" }
            frame += ANSI.render(line, isColored: isColored) + ANSI.eraseToEndOfLine
        }
        if screen.lines.isEmpty { frame += ANSI.eraseToEndOfLine }
        return frame + ANSI.eraseBelow + ANSI.endSynchronizedUpdate
    }

    /// The same screen as lines for a pipe or a one-shot print.
    static func text(for screen: Screen, isColored: Bool) -> String {
        screen.lines.map { ANSI.render($0.withoutTrailingSpaces, isColored: isColored) + "\n" }
            .joined()
    }

    static let enter = ANSI.enterAlternateScreen + ANSI.hideCursor
    static let leave =
        ANSI.endSynchronizedUpdate + ANSI.resetStyle + ANSI.showCursor + ANSI.leaveAlternateScreen
}
