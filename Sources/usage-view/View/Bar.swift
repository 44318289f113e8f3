import TerminalText

/// A horizontal bar of whole cells.
enum Bar {
    /// Filled by `percent`, clamped to 0–100. A bar is empty only for nothing and full only for
    /// everything, so that it never contradicts the number beside it.
    static func line(
        percent: Double, cells: Int, style: TextStyle
    ) -> StyledLine {
        let filled = filledCells(percent: percent, cells: cells)
        var line = StyledLine(String(repeating: "█", count: filled), style)
        line.append(String(repeating: "░", count: cells - filled), .dim)
        return line
    }

    static func filledCells(percent: Double, cells: Int) -> Int {
        guard cells > 0, percent > 0 else { return 0 }
        guard percent < 100 else { return cells }
        let filled = Int((percent / 100 * Double(cells)).rounded())
        return min(max(filled, 1), max(cells - 1, 0))
    }
}
