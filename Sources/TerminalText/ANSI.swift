/// Escape sequences (ECMA-48, xterm). No other code contains one.
package enum ANSI {
    /// A line with the sequences of its styles, or its plain text.
    package static func render(_ line: StyledLine, isColored: Bool) -> String {
        guard isColored else { return line.plainText }
        return line.spans.reduce(into: "") { result, span in
            let codes = codes(of: span.style)
            result += codes.isEmpty ? span.text : "\(csi)\(codes)m\(span.text)\(resetStyle)"
        }
    }

    /// A full screen that overwrites the previous one line by line, without clearing it first, so that nothing
    /// flickers. The last line has no line break, which would scroll.
    package static func frame(_ lines: [StyledLine], isColored: Bool) -> String {
        let text = lines.map { render($0, isColored: isColored) + eraseToEndOfLine }
        return beginSynchronizedUpdate + csi + "H"
            + (lines.isEmpty ? eraseToEndOfLine : text.joined(separator: "\r\n"))
            + csi + "J" + endSynchronizedUpdate
    }

    /// A line in place of the one that the cursor is in.
    package static func replacingLine(_ line: StyledLine) -> String {
        "\r" + line.plainText + eraseToEndOfLine
    }

    /// Switches to the alternate screen and hides the cursor.
    package static let enterScreen = csi + "?1049h" + csi + "?25l"
    /// Undoes `enterScreen`, also in the middle of a frame.
    package static let leaveScreen =
        endSynchronizedUpdate + resetStyle + csi + "?25h" + csi + "?1049l"

    private static let csi = "\u{1B}["
    private static let resetStyle = csi + "0m"
    private static let eraseToEndOfLine = csi + "K"
    /// Terminals that support it paint the frame at once; others ignore it.
    private static let beginSynchronizedUpdate = csi + "?2026h"
    private static let endSynchronizedUpdate = csi + "?2026l"

    private static func codes(of style: TextStyle) -> String {
        [style.isBold ? 1 : nil, style.isDim ? 2 : nil, style.color?.rawValue]
            .compactMap { $0.map(String.init) }.joined(separator: ";")
    }
}
