import TerminalText

/// Text of parts that are joined by " · ".
enum Parts {
    static func joined(_ parts: String...) -> String { parts.filter { !$0.isEmpty }.joined(separator: " · ") }

    /// Lines of at most `width` cells: broken between parts, then after commas, then at spaces.
    static func wrapped(_ text: String, width: Int, at separators: [String] = [" · ", ", "]) -> [String] {
        guard let separator = separators.first, CellWidth.of(text) > width else { return text.wrapped(toCells: width) }
        // A comma stays at the end of its line.
        let (end, gap) = separator == ", " ? (",", " ") : ("", separator)
        let parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
        var lines: [String] = []
        for (index, part) in parts.enumerated() {
            let part = index < parts.count - 1 ? part + end : part
            if let last = lines.last, CellWidth.of(last + gap + part) <= width {
                lines[lines.count - 1] = last + gap + part
            } else {
                lines += wrapped(part, width: width, at: Array(separators.dropFirst()))
            }
        }
        return lines
    }
}

extension StyledLine {
    /// The line continued at a column by text, one line per piece.
    func continued(by pieces: some Sequence<String>, atColumn column: Int, _ style: TextStyle) -> [StyledLine] {
        pieces.enumerated().map { index, piece in
            var line = index == 0 ? self : StyledLine()
            line.pad(toCells: column)
            return line.appending(piece, style)
        }
    }
}
