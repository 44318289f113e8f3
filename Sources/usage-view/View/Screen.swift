import TerminalText

/// The rectangle that a screen is drawn for.
struct ScreenSize: Sendable, Equatable {
    var columns: Int
    /// Nil if the output may be of any length: a pipe, a one-shot print.
    var rows: Int?
}

/// Lines of styled text, top to bottom, none wider than the size they were drawn for.
typealias Screen = [StyledLine]

extension Screen {
    /// The lines for a pipe or a one-shot print, without trailing spaces.
    func text(isColored: Bool) -> String {
        map { ANSI.render($0.withoutTrailingSpaces, isColored: isColored) + "\n" }.joined()
    }
}

extension StyledLine {
    /// The line in ASCII; every character keeps its width.
    var inASCII: StyledLine {
        var result = StyledLine()
        for span in spans {
            let text = span.text.map { character in
                switch character {
                case _ where character.isASCII: String(character)
                case "█": "#"
                case "▁": "."
                case "▂": ":"
                case "▃": "-"
                case "▄": "="
                case "▅": "+"
                case "▆": "*"
                case "▇": "%"
                case "░", "·", "–", "─": "-"
                case "…": "."
                case "▌", "›", "→": ">"
                case "│": "|"
                case "↑": "^"
                case "↓": "v"
                case "←": "<"
                case "×": "x"
                case "\u{2800}"..."\u{28FF}": "*"
                default: String(repeating: "?", count: CellWidth.of(character))
                }
            }
            result.append(text.joined(), span.style)
        }
        return result
    }
}
