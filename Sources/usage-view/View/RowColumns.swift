import Foundation
import TerminalText

/// One line of a card before it is laid out.
struct CardRow {
    enum Content {
        /// A bar, the percent text with its word, and what stands behind it.
        case gauge(percent: Double, text: String, style: TextStyle, note: Note)
        /// Text from the bar's column on, wrapped.
        case text(String, TextStyle)
    }

    /// What stands behind a gauge, or below it where there is no room.
    struct Note {
        /// The reset of a window. Its width decides where all bars end.
        var reset = ""
        /// More, in parts joined by " · ".
        var details = ""
    }

    let label: String
    let content: Content
}

/// Where the parts of a row stand, the same for all cards of a screen so that they line up.
struct RowColumns {
    enum Form {
        /// Reset and details behind the percent.
        case oneLine
        /// The reset behind the percent, details below.
        case detailsBelow
        /// Both below.
        case allBelow
    }

    static let indent = 2
    static let gap = 2
    static let barCells = 8...30
    /// Everything goes on one line only while the bar keeps this length.
    static let barCellsOnOneLine = 14
    static let widestLabel = 16

    let labelCells: Int
    let barCells: Int
    let percentCells: Int
    let form: Form

    /// Where the bar starts; text rows start here too.
    var barColumn: Int { Self.indent + labelCells + Self.gap }

    init(fitting rows: [CardRow], width: Int) {
        var label = 0
        var percent = 0
        var reset = 0
        var wholeNote = 0
        for row in rows {
            label = max(label, CellWidth.of(row.label))
            guard case .gauge(_, let text, _, let note) = row.content else { continue }
            percent = max(percent, CellWidth.of(text))
            reset = max(reset, CellWidth.of(note.reset))
            wholeNote = max(wholeNote, CellWidth.of(Self.joined(note.reset, note.details)))
        }
        labelCells = min(label, Self.widestLabel)
        percentCells = percent
        let taken = Self.indent + labelCells + Self.gap + Self.gap + percent
        let besideAll = width - taken - Self.gap - wholeNote
        let besideReset = width - taken - Self.gap - reset
        let room: Int
        if besideAll >= Self.barCellsOnOneLine {
            (form, room) = (.oneLine, besideAll)
        } else if besideReset >= Self.barCells.lowerBound {
            (form, room) = (.detailsBelow, besideReset)
        } else {
            (form, room) = (.allBelow, width - taken)
        }
        barCells = max(1, min(room, Self.barCells.upperBound))
    }

    static func joined(_ parts: String...) -> String {
        parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }

    /// Lines of at most `width` cells: broken between parts, then after commas, then at spaces.
    static func wrapped(_ text: String, width: Int) -> [String] {
        packed(text, separators: [" · ", ", "], width: width)
    }

    private static func packed(_ text: String, separators: [String], width: Int) -> [String] {
        if text.isEmpty { return [] }
        if CellWidth.of(text) <= width { return [text] }
        guard let separator = separators.first else {
            return WordWrap.lines(text, width: width)
        }
        let kept = separator.hasPrefix(",") ? "," : ""
        let parts = text.components(separatedBy: separator)
        var lines: [String] = []
        for (index, part) in parts.enumerated() {
            let part = index < parts.count - 1 ? part + kept : part
            let joined = (lines.last ?? "") + (kept.isEmpty ? separator : " ") + part
            if !lines.isEmpty, CellWidth.of(joined) <= width {
                lines[lines.count - 1] = joined
            } else {
                lines += packed(part, separators: Array(separators.dropFirst()), width: width)
            }
        }
        return lines
    }
}
