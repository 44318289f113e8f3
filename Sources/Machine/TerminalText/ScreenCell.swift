/// One cell of a terminal's screen.
struct ScreenCell: Equatable {
    /// A character with its combining marks; empty in the second cell of a wide one.
    var text: String
    var style: TextStyle

    static let blank = ScreenCell(text: " ", style: .plain)

    /// Whether every terminal agrees that the text takes one cell. The others may disagree about wide characters, emoji
    /// and combining marks, so nothing is drawn after those without addressing the cell.
    var isCertain: Bool {
        var scalars = text.unicodeScalars.makeIterator()
        guard let first = scalars.next(), scalars.next() == nil else { return false }
        return switch first.value {
        // Latin, punctuation, arrows, box drawing and blocks, Braille.
        case ..<0x300, 0x2010...0x2027, 0x2190...0x2193, 0x2500...0x259F, 0x2800...0x28FF: true
        default: false
        }
    }

    /// Whether it is text of one byte.
    var isASCII: Bool { text.utf8.count == 1 }

    /// The cells of a line up to the last one that is not blank, at most `columns`. A wide character that does not fit
    /// is left out, and so is a combining mark without a character before it. What could control the terminal is
    /// replaced: the last line of defense behind `VisibleText`.
    static func cells(of line: StyledLine, columns: Int, isColored: Bool) -> [ScreenCell] {
        var cells: [ScreenCell] = []
        cells.reserveCapacity(min(line.cells, columns))
        for span in line.spans {
            let style = isColored ? span.style : .plain
            for character in span.text {
                let width = CellWidth.of(character)
                guard width > 0 else {
                    if let base = cells.lastIndex(where: { !$0.text.isEmpty }) {
                        cells[base].text.append(contentsOf: visible(character))
                    }
                    continue
                }
                guard cells.count + width <= columns else { return trimmed(cells) }
                cells.append(ScreenCell(text: visible(character), style: style))
                if width == 2 { cells.append(ScreenCell(text: "", style: style)) }
            }
        }
        return trimmed(cells)
    }

    private static func visible(_ character: Character) -> String {
        if let byte = character.utf8.first, character.utf8.count == 1, byte >= 0x20, byte < 0x7F {
            return String(character)
        }
        return character.unicodeScalars.contains(where: VisibleText.isHidden)
            ? String(repeating: "?", count: max(1, CellWidth.of(character))) : String(character)
    }

    private static func trimmed(_ cells: [ScreenCell]) -> [ScreenCell] {
        guard let last = cells.lastIndex(where: { $0 != blank }) else { return [] }
        return Array(cells[...last])
    }
}
