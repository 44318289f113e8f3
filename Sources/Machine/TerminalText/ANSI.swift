/// Escape sequences (ECMA-48, xterm). No other code contains one.
package enum ANSI {
    /// A line with the sequences of its styles, or its plain text.
    package static func render(_ line: StyledLine, isColored: Bool) -> String {
        guard isColored else { return line.plainText }
        return line.spans.reduce(into: "") { result, span in
            let start = change(from: .plain, to: span.style)
            result += start.isEmpty ? span.text : start + span.text + resetStyle
        }
    }

    // MARK: - Modes

    /// Switches to the alternate screen, hides the cursor, keeps text at the right edge from wrapping, and brackets
    /// pasted text.
    package static let enterScreen = csi + "?1049h" + csi + "?25l" + csi + "?7l" + csi + "?2004h"
    /// Undoes `enterScreen` and `mouseOn`, also in the middle of a frame.
    package static let leaveScreen =
        endSynchronizedUpdate + resetStyle + mouseOff + csi + "?2004l" + csi + "?7h"
        + csi + "?25h" + csi + "?1049l"
    /// Presses and the wheel, with coordinates of any size (mode 1006).
    package static let mouseOn = csi + "?1000h" + csi + "?1006h"
    package static let mouseOff = csi + "?1006l" + csi + "?1000l"

    /// The private mode of synchronized updates.
    package static let synchronizedUpdates = 2_026
    package static let beginSynchronizedUpdate = csi + "?\(synchronizedUpdates)h"
    package static let endSynchronizedUpdate = csi + "?\(synchronizedUpdates)l"
    /// Asks whether the terminal has synchronized updates (DECRQM). A terminal that does not know the question may
    /// print its last letter, so it is asked before the screen is cleared.
    package static let querySynchronizedUpdates = csi + "?\(synchronizedUpdates)$p"

    // MARK: - Cells

    package static let clearScreen = resetStyle + csi + "H" + csi + "2J"
    static let eraseToEndOfLine = csi + "K"

    /// Blanks cells from the cursor on, without moving it.
    static func erase(cells: Int) -> String { csi + parameter(cells) + "X" }

    /// - Parameters: counted from 0.
    static func move(toRow row: Int, column: Int) -> String {
        csi + parameter(row + 1) + (column > 0 ? ";\(column + 1)" : "") + "H"
    }

    /// A line in place of the one that the cursor is in.
    package static func replacingLine(_ line: StyledLine) -> String { "\r" + line.plainText + eraseToEndOfLine }

    static func moveRight(cells: Int) -> String { csi + parameter(cells) + "C" }

    /// 1 is what a missing parameter means.
    private static func parameter(_ number: Int) -> String { number == 1 ? "" : "\(number)" }

    // MARK: - Styles

    private static let csi = "\u{1B}["
    private static let resetStyle = csi + "0m"

    /// What changes the style of the text that follows; empty if they are the same.
    static func change(from old: TextStyle, to new: TextStyle) -> String {
        guard old != new else { return "" }
        let (before, after) = (codes(of: old), codes(of: new))
        guard after.contains(where: { $0 != nil }) else { return csi + "m" }
        // An attribute can only be ended together with all others.
        let endsOne = zip(before, after).contains { $0 != nil && $1 == nil }
        let codes = endsOne ? ["0"] + after : zip(before, after).map { $0 == $1 ? nil : $1 }
        return csi + codes.compactMap { $0 }.joined(separator: ";") + "m"
    }

    /// One element for each attribute, in a fixed order; nil where the style has none.
    private static func codes(of style: TextStyle) -> [String?] {
        [
            style.isBold ? "1" : nil, style.isDim || style.isFaint ? "2" : nil, style.isItalic ? "3" : nil,
            style.isUnderlined ? "4" : nil, style.isReversed ? "7" : nil,
            style.rgb.map { "38;2;\($0.red);\($0.green);\($0.blue)" } ?? style.color.map { String($0.rawValue) },
        ]
    }
}
