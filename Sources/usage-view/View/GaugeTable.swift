import Essentials
import TerminalText
import UsageState

/// One line of a card before it is laid out.
struct CardRow {
    struct Gauge {
        /// The length of the bar.
        var percent: Double
        /// Where an even use would be now; nil where that is not known.
        var evenPercent: Double?
        /// "93 % used", and "93 %".
        var text: String
        var shortText: String
        var style: TextStyle
        /// "resets in 3d 4h", and "3d 4h"; empty without a reset.
        var reset = ""
        var shortReset = ""
        /// "out Mon 13:45", and "Mon 13:45", where that is before the reset.
        var out = ""
        var shortOut = ""
        /// Parts joined by " · ".
        var details = ""
    }

    enum Content {
        case gauge(Gauge)
        case text(String, TextStyle)
    }

    /// What it is of, which gives way where there is no room.
    var name = ""
    /// The window, which does not: "Session (5h)", and "5h".
    var label: String
    var shortLabel: String
    var content: Content

    fileprivate var gauge: Gauge? {
        if case .gauge(let gauge) = content { gauge } else { nil }
    }
}

/// Rows in columns: what it is of, the bar, the percentage, when it runs out and when it is reset.
///
/// With less room the bar gets shorter and goes, then words, then the end of names; never the window, the percentage or
/// the reset.
struct GaugeTable {
    /// How it is said, in less and less room.
    private enum Words: Int, CaseIterable {
        /// "▲ out Mon 13:45  resets in 3d 4h"
        case sentence
        /// "▲ out Mon 13:45  3d 4h"
        case shortReset
        /// "▲ Mon 13:45  3d 4h"
        case shortTimes
        /// "▲  3d 4h", and the short forms of the rest.
        case sign
        /// Nothing where not even the percentage would have room then.
        case nothing

        func out(_ gauge: CardRow.Gauge) -> String {
            guard !gauge.out.isEmpty, self != .nothing else { return "" }
            let time =
                switch self {
                case .sentence, .shortReset: " " + gauge.out
                case .shortTimes: " " + gauge.shortOut
                case .sign, .nothing: ""
                }
            return Urgency.outSign + time
        }

        func reset(_ gauge: CardRow.Gauge) -> String {
            self == .sentence ? gauge.reset : self == .nothing ? "" : gauge.shortReset
        }

        private var isShort: Bool { rawValue >= Self.sign.rawValue }
        func text(_ gauge: CardRow.Gauge) -> String { isShort ? gauge.shortText : gauge.text }
        func label(_ row: CardRow) -> String { isShort ? row.shortLabel : row.label }
    }

    private static let gap = 2
    private static let barCells = 5...30
    /// Shorter ones lose words first.
    private static let preferredBarCells = 8
    private static let leastNameCells = 4

    private let width: Int
    private let nameCells: Int
    private let labelCells: Int
    private let barCells: Int
    private let percentCells: Int
    private let outCells: Int
    private let resetCells: Int
    private let words: Words

    init(fitting rows: [CardRow], width: Int) {
        self.width = width
        let gauges = rows.compactMap(\.gauge)
        func widest(_ texts: [String]) -> Int { texts.map { CellWidth.of($0) }.max() ?? 0 }
        func gapped(_ cells: Int) -> Int { cells > 0 ? cells + Self.gap : 0 }
        let name = widest(rows.map(\.name))
        func label(_ words: Words) -> Int { min(widest(rows.map(words.label)), max(4, width / 3)) }
        func room(_ words: Words) -> Int {
            let times = gapped(widest(gauges.map(words.out))) + gapped(widest(gauges.map(words.reset)))
            return width - gapped(label(words)) - widest(gauges.map(words.text)) - times
        }
        let needed = gapped(name) + Self.preferredBarCells + Self.gap
        let chosen =
            Words.allCases.dropLast().first { room($0) >= needed }
            ?? (room(.sign) >= gapped(min(name, Self.leastNameCells)) ? .sign : .nothing)
        words = chosen
        labelCells = label(chosen)
        percentCells = widest(gauges.map(chosen.text))
        outCells = widest(gauges.map(chosen.out))
        resetCells = widest(gauges.map(chosen.reset))
        let free = room(chosen)
        nameCells = max(0, min(name, free - Self.gap))
        let bar = free - gapped(nameCells) - Self.gap
        barCells = bar < Self.barCells.lowerBound ? 0 : min(bar, Self.barCells.upperBound)
    }

    /// Where bars and text start.
    private var contentColumn: Int { [nameCells, labelCells].reduce(0) { $0 + ($1 > 0 ? $1 + Self.gap : 0) } }

    /// - Parameter isOneLine: whether what does not fit is cut, instead of being continued below.
    func lines(_ row: CardRow, isOneLine: Bool = false) -> [StyledLine] {
        var line = StyledLine()
        var column = 0
        func append(
            _ text: String, cells: Int, _ style: TextStyle = .plain, _ alignment: TextAlignment = .leading
        ) {
            guard cells > 0 else { return }
            line.pad(toCells: column)
            let text = text.truncated(toCells: cells)
            line.append(alignment == .leading ? text : text.padded(toCells: cells, alignment: .trailing), style)
            column += cells + Self.gap
        }
        append(row.name, cells: nameCells, .bold)
        if !row.label.isEmpty || row.gauge != nil { append(words.label(row), cells: labelCells) }
        let below: [String]
        switch row.content {
        case .text(let text, let style):
            let room = max(1, width - column)
            let pieces = isOneLine ? [text.truncated(toCells: room)] : Parts.wrapped(text, width: room)
            return line.continued(by: pieces, atColumn: column, style)
        case .gauge(let gauge):
            if barCells > 0 {
                line.pad(toCells: column)
                line.append(Bar.line(gauge, cells: barCells))
                column += barCells + Self.gap
            }
            append(words.text(gauge), cells: percentCells, gauge.style, .trailing)
            append(words.out(gauge), cells: outCells, gauge.style)
            append(words.reset(gauge), cells: resetCells)
            let beside = line.withoutTrailingSpaces.appending("  " + gauge.details)
            if beside.cells <= width { return [gauge.details.isEmpty ? line.withoutTrailingSpaces : beside] }
            below = Parts.wrapped(gauge.details, width: max(1, width - contentColumn))
        }
        line = line.withoutTrailingSpaces.truncated(toCells: width)
        return [line] + (isOneLine ? [] : StyledLine().continued(by: below, atColumn: contentColumn, .dim))
    }
}

/// A horizontal bar of whole cells.
enum Bar {
    /// With a tick where an even use would be now.
    static func line(_ gauge: CardRow.Gauge, cells: Int) -> StyledLine {
        let filled = filledCells(percent: gauge.percent, cells: cells)
        let tick = gauge.evenPercent.map { min(cells - 1, filledCells(percent: $0, cells: cells)) }
        var line = StyledLine()
        for cell in 0..<cells {
            if cell == tick {
                line.append("│")
            } else if cell < filled {
                line.append("█", gauge.style)
            } else {
                line.append("░", .faint)
            }
        }
        return line
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
