/// How text looks, in the colors of the terminal's own palette.
package struct TextStyle: Sendable, Equatable {
    /// The raw value is the code of the foreground color.
    package enum Color: Int, Sendable {
        case red = 31
        case green, yellow
        case magenta = 35
        case cyan
    }

    /// A color of its own, where one is what is to be seen.
    package struct RGB: Sendable, Equatable {
        package let red: UInt8
        package let green: UInt8
        package let blue: UInt8

        package init(red: UInt8, green: UInt8, blue: UInt8) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }
    }

    package var color: Color?
    /// In place of `color`.
    package var rgb: RGB?
    package var isBold = false
    package var isDim = false
    var isFaint = false
    package var isItalic = false
    package var isUnderlined = false
    package var isReversed = false

    package static let plain = TextStyle()
    package static let bold = TextStyle(isBold: true)
    /// Text that matters less.
    package static let dim = TextStyle(isDim: true)
    /// Lines and fills, which nobody has to read.
    package static let faint = TextStyle(isFaint: true)
    package static func colored(_ color: Color) -> TextStyle { TextStyle(color: color) }
}

/// One line of styled text, without line breaks.
package struct StyledLine: Sendable, Equatable {
    package struct Span: Sendable, Equatable {
        package var text: String
        package var style: TextStyle
    }

    package private(set) var spans: [Span] = []
    /// The width in terminal cells.
    package private(set) var cells = 0

    package init(_ text: String = "", _ style: TextStyle = .plain) {
        append(text, style)
    }

    /// The text without styles.
    package var plainText: String { spans.map(\.text).joined() }

    package mutating func append(_ text: String, _ style: TextStyle = .plain) {
        guard !text.isEmpty else { return }
        cells += CellWidth.of(text)
        if spans.last?.style == style {
            spans[spans.count - 1].text += text
        } else {
            spans.append(Span(text: text, style: style))
        }
    }

    package mutating func append(_ line: StyledLine) {
        for span in line.spans { append(span.text, span.style) }
    }

    /// The line with each span's style replaced.
    package func restyled(_ style: (TextStyle) -> TextStyle) -> StyledLine {
        var line = self
        for index in line.spans.indices { line.spans[index].style = style(spans[index].style) }
        return line
    }

    /// The line followed by more text.
    package func appending(_ text: String, _ style: TextStyle = .plain) -> StyledLine {
        var line = self
        line.append(text, style)
        return line
    }

    /// Appends spaces up to a column; a line that is already wider is unchanged.
    package mutating func pad(toCells column: Int) { append(String(repeating: " ", count: max(0, column - cells))) }

    /// At most `limit` cells wide; a cut is marked with "…".
    package func truncated(toCells limit: Int) -> StyledLine {
        guard cells > limit else { return self }
        var result = StyledLine()
        for span in spans {
            let room = limit - result.cells
            // A following span is cut off too, so this one has to end in the ellipsis.
            if CellWidth.of(span.text) >= room {
                return result.appending((span.text + "……").truncated(toCells: room), span.style)
            }
            result.append(span.text, span.style)
        }
        return result
    }

    /// For output that is kept: a file, a pipe, a scrollback.
    package var withoutTrailingSpaces: StyledLine {
        var line = self
        while let last = line.spans.popLast() {
            line.cells -= CellWidth.of(last.text)
            guard let end = last.text.lastIndex(where: { $0 != " " }) else { continue }
            return line.appending(String(last.text[...end]), last.style)
        }
        return line
    }
}
