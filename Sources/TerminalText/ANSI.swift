/// Turns styles and terminal commands into escape sequences (ECMA-48, xterm). The only place in
/// this package that knows one.
package enum ANSI {
    /// `line` as it goes to the terminal; with `isColored` false the plain text.
    package static func render(_ line: StyledLine, isColored: Bool) -> String {
        guard isColored else { return line.plainText }
        return line.spans.reduce(into: "") { result, span in
            let codes = codes(of: span.style)
            result += codes.isEmpty ? span.text : "\(csi)\(codes)m\(span.text)\(csi)0m"
        }
    }

    package static let enterAlternateScreen = csi + "?1049h"
    package static let leaveAlternateScreen = csi + "?1049l"
    package static let hideCursor = csi + "?25l"
    package static let showCursor = csi + "?25h"
    package static let cursorHome = csi + "H"
    package static let eraseToEndOfLine = csi + "K"
    package static let eraseBelow = csi + "J"
    package static let resetStyle = csi + "0m"
    /// Terminals that know it paint the frame at once; the others ignore it.
    package static let beginSynchronizedUpdate = csi + "?2026h"
    package static let endSynchronizedUpdate = csi + "?2026l"

    private static let csi = "\u{1B}["

    private static func codes(of style: TextStyle) -> String {
        var codes: [String] = []
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        switch style.color {
        case .red: codes.append("31")
        case .green: codes.append("32")
        case .yellow: codes.append("33")
        case nil: break
        }
        return codes.joined(separator: ";")
    }
}
