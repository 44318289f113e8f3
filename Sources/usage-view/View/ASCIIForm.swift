import TerminalText

/// Lines for a terminal that shows ASCII only; every character keeps its number of cells.
enum ASCIIForm {
    static func line(_ line: StyledLine) -> StyledLine {
        var result = StyledLine()
        for span in line.spans {
            result.append(span.text.map(text(for:)).joined(), span.style)
        }
        return result
    }

    private static func text(for character: Character) -> String {
        if character.isASCII { return String(character) }
        return switch character {
        case "█": "#"
        case "░", "·", "–": "-"
        case "…": "."
        default: String(repeating: "?", count: CellWidth.of(character))
        }
    }
}
