import Essentials
import TerminalText

/// The column layout of rows, shared by all cards of a screen so that they line up.
struct RowColumns {
    static let indent = 2
    private static let gap = 2
    private static let barCells = 8...30
    /// Everything goes on one line only while the bar keeps this length.
    private static let barCellsOnOneLine = 14
    private static let widestLabel = 16

    private let width: Int
    private let labelCells: Int
    private let barCells: Int
    private let percentCells: Int
    /// What has room beside the percentage; the rest goes below.
    private let isResetBeside: Bool
    private let areDetailsBeside: Bool

    /// Where bars and text start.
    private var barColumn: Int { Self.indent + labelCells + Self.gap }

    init(fitting rows: [CardRow], width: Int) {
        var (label, percent, reset, note) = (0, 0, 0, 0)
        for row in rows {
            label = max(label, CellWidth.of(row.label))
            guard case .gauge(let gauge) = row.content else { continue }
            percent = max(percent, CellWidth.of(gauge.text))
            reset = max(reset, CellWidth.of(gauge.reset))
            note = max(note, CellWidth.of(Self.joined(gauge.reset, gauge.details)))
        }
        self.width = width
        labelCells = min(label, Self.widestLabel)
        percentCells = percent
        let free = width - (Self.indent + labelCells + Self.gap + Self.gap + percent)
        areDetailsBeside = free - Self.gap - note >= Self.barCellsOnOneLine
        isResetBeside = areDetailsBeside || free - Self.gap - reset >= Self.barCells.lowerBound
        let beside = areDetailsBeside ? note : reset
        let room = isResetBeside ? free - Self.gap - beside : free
        barCells = max(1, min(room, Self.barCells.upperBound))
    }

    func lines(for row: CardRow) -> [StyledLine] {
        var line = StyledLine(String(repeating: " ", count: Self.indent))
        line.append(row.label.truncated(toCells: labelCells))
        line.pad(toCells: barColumn)
        switch row.content {
        case .text(let text, let style):
            let pieces = Self.wrapped(text, width: width - barColumn)
            return line.continued(by: pieces, atColumn: barColumn, style)
        case .gauge(let gauge):
            line.append(Bar.line(percent: gauge.percent, cells: barCells, style: gauge.style))
            line.append(String(repeating: " ", count: Self.gap))
            line.append(gauge.text.padded(toCells: percentCells, alignment: .trailing), gauge.style)
            return lines(line, reset: gauge.reset, details: gauge.details)
        }
    }

    private func lines(_ line: StyledLine, reset: String, details: String) -> [StyledLine] {
        var beside = Self.joined(isResetBeside ? reset : "", areDetailsBeside ? details : "")
        var below = Self.joined(isResetBeside ? "" : reset, areDetailsBeside ? "" : details)
        // Without a reset its place is free for details that fit.
        if beside.isEmpty, line.cells + Self.gap + CellWidth.of(below) <= width { (beside, below) = (below, "") }
        let first =
            beside.isEmpty
            ? line : line.appending(String(repeating: " ", count: Self.gap) + beside)
        let rest = Self.wrapped(below, width: width - barColumn)
        return [first] + StyledLine().continued(by: rest, atColumn: barColumn, .dim)
    }

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

/// A horizontal bar of whole cells.
enum Bar {
    static func line(percent: Double, cells: Int, style: TextStyle) -> StyledLine {
        let filled = filledCells(percent: percent, cells: cells)
        return StyledLine(String(repeating: "█", count: filled), style)
            .appending(String(repeating: "░", count: cells - filled), .faint)
    }

    /// Clamped to 0–100. A bar is empty only for nothing and full only for everything, so that it never
    /// contradicts the number beside it.
    static func filledCells(percent: Double, cells: Int) -> Int {
        guard cells > 0, percent > 0 else { return 0 }
        guard percent < 100 else { return cells }
        let filled = Int((percent / 100 * Double(cells)).rounded())
        return min(max(filled, 1), cells - 1)
    }
}
