/// Fitting text into a number of terminal cells.
extension String {
    /// At most `cells` wide; a cut is marked with "…". Empty for 0 cells.
    package func truncated(toCells cells: Int) -> String {
        if CellWidth.of(self) <= cells { return self }
        return cells > 0 ? prefix(cells: cells - 1) + "…" : ""
    }

    /// Filled with spaces up to `cells`; longer text is unchanged.
    package func padded(toCells cells: Int, alignment: TextAlignment = .leading) -> String {
        let spaces = String(repeating: " ", count: max(0, cells - CellWidth.of(self)))
        return alignment == .leading ? self + spaces : spaces + self
    }

    /// Exactly `cells` wide.
    package func fitted(toCells cells: Int, alignment: TextAlignment = .leading) -> String {
        truncated(toCells: cells).padded(toCells: cells, alignment: alignment)
    }

    /// Lines of at most `width` cells, broken at spaces, and inside a word only where it is longer than that.
    /// Runs of spaces become one. Empty text gives no lines; a width below 1 counts as 1.
    package func wrapped(toCells width: Int) -> [String] {
        let width = max(1, width)
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, CellWidth.of(last) + 1 + CellWidth.of(word) <= width {
                lines[lines.count - 1] = last + " " + word
                continue
            }
            var rest = String(word)
            while CellWidth.of(rest) > width {
                // At least one character, so that a wide one in a width of 1 makes progress.
                let head =
                    rest.prefix(cells: width).isEmpty
                    ? String(rest.prefix(1)) : rest.prefix(cells: width)
                lines.append(head)
                rest.removeFirst(head.count)
            }
            if !rest.isEmpty { lines.append(rest) }
        }
        return lines
    }

    private func prefix(cells: Int) -> String {
        var used = 0
        return String(
            prefix { character in
                used += CellWidth.of(character)
                return used <= cells
            })
    }
}

package enum TextAlignment: Sendable {
    case leading, trailing
}
