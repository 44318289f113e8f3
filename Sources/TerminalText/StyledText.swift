/// How a piece of text looks. The terminal's own palette: nothing here is an escape sequence.
package struct TextStyle: Sendable, Equatable {
    package enum Color: Sendable, Equatable {
        case red, yellow, green
    }

    package var color: Color?
    package var isBold: Bool
    package var isDim: Bool

    package init(color: Color? = nil, isBold: Bool = false, isDim: Bool = false) {
        self.color = color
        self.isBold = isBold
        self.isDim = isDim
    }

    package static let plain = TextStyle()
    package static let bold = TextStyle(isBold: true)
    package static let dim = TextStyle(isDim: true)
    package static func colored(_ color: Color) -> TextStyle { TextStyle(color: color) }
}

/// One line: pieces of text with one style each. Holds no line break.
package struct StyledLine: Sendable, Equatable {
    package struct Span: Sendable, Equatable {
        package var text: String
        package var style: TextStyle

        package init(_ text: String, _ style: TextStyle = .plain) {
            self.text = text
            self.style = style
        }
    }

    package private(set) var spans: [Span] = []
    /// Width in terminal cells.
    package private(set) var cells = 0

    package init() {}

    package init(_ text: String, _ style: TextStyle = .plain) {
        append(text, style)
    }

    /// The text without styles.
    package var plainText: String { spans.reduce(into: "") { $0 += $1.text } }

    package mutating func append(_ text: String, _ style: TextStyle = .plain) {
        guard !text.isEmpty else { return }
        cells += CellWidth.of(text)
        if let last = spans.last, last.style == style {
            spans[spans.count - 1].text += text
        } else {
            spans.append(Span(text, style))
        }
    }

    package mutating func append(_ line: StyledLine) {
        for span in line.spans { append(span.text, span.style) }
    }

    /// Spaces up to a column; nothing when the line is already there.
    package mutating func pad(toCells column: Int) {
        if cells < column { append(String(repeating: " ", count: column - cells)) }
    }

    /// At most `limit` cells wide, ending in "…" where something is cut.
    package func truncated(toCells limit: Int) -> StyledLine {
        guard cells > limit else { return self }
        var result = StyledLine()
        for span in spans {
            let room = limit - result.cells
            // A following span is cut off too, so this one has to end in the ellipsis.
            if CellWidth.of(span.text) >= room {
                result.append((span.text + "……").truncated(toCells: room), span.style)
                break
            }
            result.append(span.text, span.style)
        }
        return result
    }
}

extension StyledLine {
    /// For output that is kept: a file, a pipe, a scrollback.
    package var withoutTrailingSpaces: StyledLine {
        var result = self
        while let last = result.spans.last {
            let kept = String(last.text.reversed().drop { $0 == " " }.reversed())
            if kept == last.text { break }
            result.cells -= CellWidth.of(last.text) - CellWidth.of(kept)
            if kept.isEmpty {
                result.spans.removeLast()
            } else {
                result.spans[result.spans.count - 1].text = kept
                break
            }
        }
        return result
    }
}
