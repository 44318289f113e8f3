extension StyledLine {
    /// The line in ASCII; every character keeps its width.
    package var inASCII: StyledLine {
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
                case "░", "·", "–", "─", "┈": "-"
                case "┴": "+"
                case "…": "."
                case "▏": "|"
                case "▌", "›", "→": ">"
                case "│": "|"
                case "↑", "▲": "^"
                case "↓": "v"
                case "←": "<"
                case "×": "x"
                case "\u{2800}"..."\u{28FF}":
                    // Up to two of the eight dots are a line, more an area.
                    character.unicodeScalars.reduce(0) { $0 + ($1.value & 0xFF).nonzeroBitCount } > 2 ? "*" : "."
                default: String(repeating: "?", count: CellWidth.of(character))
                }
            }
            result.append(text.joined(), span.style)
        }
        return result
    }
}
