/// Breaks text into lines at spaces.
package enum WordWrap {
    /// Lines of at most `width` cells; a word longer than that is broken inside. Runs of spaces
    /// become one. No text gives no lines; a width below 1 counts as 1.
    package static func lines(_ text: String, width: Int) -> [String] {
        let width = max(1, width)
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ") {
            var rest = String(word)
            var restWidth = CellWidth.of(rest)
            if used > 0, used + 1 + restWidth <= width {
                line += " " + rest
                used += 1 + restWidth
                continue
            }
            if used > 0 { lines.append(line) }
            while restWidth > width {
                let head = prefix(of: rest, cells: width)
                lines.append(head)
                rest.removeFirst(head.count)
                restWidth = CellWidth.of(rest)
            }
            line = rest
            used = restWidth
        }
        if used > 0 { lines.append(line) }
        return lines
    }

    /// At least one character, so that a wide one in a width of 1 does not loop.
    private static func prefix(of text: String, cells: Int) -> String {
        var result = ""
        var used = 0
        for character in text {
            used += CellWidth.of(character)
            if used > cells, !result.isEmpty { break }
            result.append(character)
        }
        return result
    }
}
