import TerminalText

/// The rectangle a screen is drawn for.
struct ScreenSize: Sendable, Equatable {
    var columns: Int
    /// nil where the output may be as long as it is: a pipe, a one-shot print.
    var rows: Int?
}

/// What is on the terminal: lines of styled text, top to bottom, none wider than the size it was
/// drawn for.
struct Screen: Sendable, Equatable {
    var lines: [StyledLine]

    /// The text without styles or trailing spaces, one line each.
    var plainText: String {
        lines.map { $0.withoutTrailingSpaces.plainText + "\n" }.joined()
    }
}
