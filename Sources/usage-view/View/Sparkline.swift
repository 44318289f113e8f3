import Essentials
import TerminalText
import UsageState

/// Percentages as one line of blocks.
enum Sparkline {
    /// - Parameters:
    ///   - columns: percent used; nil, a blank, where nothing is known.
    ///   - shown: what to show of a percentage.
    static func line(_ columns: [Double?], shown: (Double) -> Double = { $0 }) -> StyledLine {
        columns.reduce(into: StyledLine()) { line, used in
            line.append(used.map { bar(shown($0)) } ?? " ", used.map(TextStyle.level) ?? .plain)
        }
    }

    /// Full only for everything.
    private static func bar(_ percent: Double) -> String {
        percent >= 100 ? "█" : ["▁", "▂", "▃", "▄", "▅", "▆", "▇"][min(6, Int(max(0, percent) / 100 * 7))]
    }
}

extension TextStyle {
    /// How close the limit is.
    static func level(usedPercent: Double) -> TextStyle {
        Urgency.left(max(0, 100 - usedPercent)).style
    }
}
