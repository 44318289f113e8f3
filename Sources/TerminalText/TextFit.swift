/// Fitting text into a number of terminal cells.
extension String {
    /// At most `cells` wide; what does not fit ends in "…". Empty for no cells.
    package func truncated(toCells cells: Int) -> String {
        if CellWidth.of(self) <= cells { return self }
        guard cells > 0 else { return "" }
        var result = ""
        var used = 0
        for character in self {
            let width = CellWidth.of(character)
            if used + width > cells - 1 { break }
            result.append(character)
            used += width
        }
        return result + "…"
    }

    /// Spaces added up to `cells`; longer text stays as it is.
    package func padded(toCells cells: Int, alignment: TextAlignment = .leading) -> String {
        let missing = cells - CellWidth.of(self)
        guard missing > 0 else { return self }
        let spaces = String(repeating: " ", count: missing)
        return alignment == .leading ? self + spaces : spaces + self
    }

    /// Exactly `cells` wide.
    package func fitted(toCells cells: Int, alignment: TextAlignment = .leading) -> String {
        truncated(toCells: cells).padded(toCells: cells, alignment: alignment)
    }
}

package enum TextAlignment: Sendable {
    case leading, trailing
}
