import StoreTestSupport
import TestSupport
import TerminalText
import Testing

@Suite("Drawing a screen")
struct ScreenWriterTests {
    private struct Window {
        var columns: Int
        var rows: Int
        var writer = ScreenWriter(isColored: true)
        var terminal: TerminalScreen

        init(
            columns: Int, rows: Int, width: @escaping @Sendable (Character) -> Int = { CellWidth.of($0) }
        ) {
            (self.columns, self.rows) = (columns, rows)
            terminal = TerminalScreen(columns: columns, rows: rows, width: width)
            terminal.apply(ANSI.enterScreen)
        }

        mutating func draw(_ lines: [StyledLine]) -> Int {
            let text = writer.draw(lines, columns: columns, rows: rows)
            terminal.apply(text)
            return text.utf8.count
        }

        /// What a terminal shows to which all lines are written once.
        func expected(_ lines: [StyledLine]) -> [[TerminalScreen.Cell]] {
            var terminal = TerminalScreen(columns: columns, rows: rows) { CellWidth.of($0) }
            terminal.apply(ANSI.enterScreen)
            for (row, line) in lines.prefix(rows).enumerated() {
                terminal.apply("\u{1B}[\(row + 1)H" + ANSI.render(line, isColored: true))
            }
            return terminal.cells
        }
    }

    // MARK: - Random frames

    private static let alphabet = [
        "a", "b", "c", " ", " ", "  ", "0", "%", "─", "█", "⣿", "…", "é", "日", "本", "한", "😀", "👍🏽", "🇩🇪", "🇩",
        "e\u{301}", "\u{301}", "\u{20E3}", "ש", "ل", "क्षि", "ｗ", "ﾊﾞ",
    ]
    private static let styles: [TextStyle] = [
        .plain, .plain, .bold, .dim, .colored(.red), .colored(.green),
    ]

    private static func line(columns: Int, using random: inout SeededGenerator) -> StyledLine {
        var line = StyledLine()
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                alphabet.randomElement(using: &random)!
            }
            line.append(text.joined(), styles.randomElement(using: &random)!)
        }
        return line.truncated(toCells: columns)
    }

    /// Some lines changed, moved, removed or added, some not at all.
    private static func change(
        _ lines: [StyledLine], columns: Int, using random: inout SeededGenerator
    ) -> [StyledLine] {
        var lines = lines.map { $0.truncated(toCells: columns) }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let row = Int.random(in: 0...lines.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: lines.insert(line(columns: columns, using: &random), at: row)
            case 1 where row < lines.count: lines.remove(at: row)
            case 2 where row < lines.count: lines[row] = line(columns: columns, using: &random)
            case 3 where row < lines.count:
                let before = lines[row].truncated(toCells: Int.random(in: 0...max(1, columns), using: &random))
                lines[row] = before.appending(
                    alphabet.randomElement(using: &random)!, .bold
                ).truncated(toCells: columns)
            default: break
            }
        }
        return lines
    }

    @Test("a terminal shows every frame of any sequence of frames and sizes", arguments: 1...150 as ClosedRange<UInt64>)
    func frames(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = Window(
            columns: Int.random(in: 1...60, using: &random),
            rows: Int.random(in: 1...12, using: &random))
        window.writer.isSynchronized = Bool.random(using: &random)
        var lines: [StyledLine] = []
        for step in 0..<12 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                window.columns = Int.random(in: 1...60, using: &random)
                window.rows = Int.random(in: 1...12, using: &random)
                window.terminal.resize(
                    columns: window.columns, rows: window.rows, noise: TerminalScreen.Cell(text: "#", style: [1]))
                // It may be of the former size again.
                window.writer.forget()
            case 1:
                window.writer.forget()
                window.terminal.apply("\u{1B}[2H\u{1B}[31mnoise\u{1B}[m")
            default: break
            }
            lines = Self.change(lines, columns: window.columns, using: &random)
            _ = window.draw(lines)
            #expect(window.terminal.cells == window.expected(lines), "seed \(seed), step \(step)")
            #expect(window.terminal.unknown.isEmpty)
            #expect(!window.terminal.modes.contains(ANSI.synchronizedUpdates))
            #expect(window.draw(lines) == 0)
        }
    }

    @Test("text stays in its cells on a terminal with other widths", arguments: 1...60 as ClosedRange<UInt64>, [1, 2])
    func otherWidths(seed: UInt64, width: Int) {
        var random = SeededGenerator(seed: seed)
        var window = Window(columns: 40, rows: 6) { character in
            let usual = CellWidth.of(character)
            return character.isASCII || usual == 0 || !Self.isDisputed(character) ? usual : width
        }
        var lines: [StyledLine] = []
        for step in 0..<12 {
            // A character that is wider than expected does not fit in the last column.
            lines = Self.change(lines, columns: window.columns - 1, using: &random)
            _ = window.draw(lines)
            for (shown, expected) in zip(window.terminal.cells, window.expected(lines)) {
                for (shown, expected) in zip(shown, expected)
                where expected.text != " " && expected.text.utf8.count == 1 {
                    #expect(shown == expected, "seed \(seed), step \(step)")
                }
            }
        }
    }

    private static func isDisputed(_ character: Character) -> Bool {
        character.unicodeScalars.count > 1 || CellWidth.of(character) == 2
    }

    // MARK: - What is written

    @Test("only the cells that changed are written")
    func changedCells() {
        var writer = ScreenWriter(isColored: true)
        func draw(_ lines: [StyledLine]) -> String { writer.draw(lines, columns: 40, rows: 5) }
        let first = StyledLine("Session (5h)  ", .bold).appending("resets in 2h 15m")
        #expect(
            draw([first, StyledLine("b")])
                == ANSI.clearScreen
                + "\u{1B}[H\u{1B}[1mSession (5h)  \u{1B}[mresets in 2h 15m\u{1B}[2Hb")
        let next = StyledLine("Session (5h)  ", .bold).appending("resets in 2h 14m")
        #expect(draw([next, StyledLine("b")]) == "\u{1B}[;29H4")
        #expect(draw([next, StyledLine("b")]).isEmpty)
        #expect(draw([next]) == "\u{1B}[2H\u{1B}[K")
        #expect(draw([next.appending("!", .colored(.red))]) == "\u{1B}[;31H\u{1B}[31m!\u{1B}[m")
        writer.isSynchronized = true
        #expect(draw([next]) == "\u{1B}[?2026h\u{1B}[;31H\u{1B}[K\u{1B}[?2026l")
        #expect(draw([next]).isEmpty)
    }

    @Test("a style begins where it changes, and ends others only if it must")
    func styles() {
        var writer = ScreenWriter(isColored: true)
        func draw(_ line: StyledLine) -> String { writer.draw([line], columns: 40, rows: 5) }
        _ = draw(StyledLine("......"))
        let line = StyledLine("a", .dim).appending("b", .colored(.red)).appending("c", .colored(.green))
        #expect(draw(line.appending("def")) == "\u{1B}[H\u{1B}[2ma\u{1B}[0;31mb\u{1B}[32mc\u{1B}[mdef")
    }

    @Test("without color nothing has a style")
    func noColor() {
        var writer = ScreenWriter(isColored: false)
        #expect(writer.draw([StyledLine("a", .bold)], columns: 9, rows: 1) == "\u{1B}[0m\u{1B}[H\u{1B}[2J\u{1B}[Ha")
        #expect(writer.draw([StyledLine("a")], columns: 9, rows: 1).isEmpty)
    }

    @Test("lines are cut to the terminal, and a wide character is not halved")
    func cut() {
        var window = Window(columns: 3, rows: 2)
        _ = window.draw([StyledLine("ab日"), StyledLine("日本"), StyledLine("c")])
        #expect(window.terminal.text == "ab\n日")
        _ = window.draw([StyledLine("日ab"), StyledLine("cdef")])
        #expect(window.terminal.text == "日a\ncde")
    }

    @Test("what could control a terminal is drawn as a question mark")
    func hostile() {
        var window = Window(columns: 60, rows: 3)
        _ = window.draw([StyledLine("a\u{1B}[31mb\u{7}c\u{9B}2Jd\r\ne\u{202E}f\u{200D}g\u{85}h\u{2028}i\u{7F}")])
        #expect(window.terminal.unknown.isEmpty)
        let text = window.terminal.text
        #expect(text.hasPrefix("a?[31mb?c?2Jd?e?"))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !VisibleText.isHidden($0) })
    }
}
