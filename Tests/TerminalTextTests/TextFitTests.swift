import Testing

@testable import TerminalText

@Suite("Fitting text into cells")
struct TextFitTests {
    @Test(
        "widths count terminal cells",
        arguments: [
            ("", 0), ("abc", 3), ("Zoë", 3), ("e\u{301}", 1), ("日本", 4), ("🧪", 2), ("🇨🇭", 2),
            ("👍🏽", 2), ("한", 2), ("ｆ", 2), ("█░", 2), ("…", 1), ("~", 1), ("€", 1),
        ])
    func widths(text: String, cells: Int) {
        #expect(CellWidth.of(text) == cells)
    }

    @Test("truncated text ends in an ellipsis and never exceeds its cells")
    func truncation() {
        #expect("abcdef".truncated(toCells: 4) == "abc…")
        #expect("abcd".truncated(toCells: 4) == "abcd")
        #expect("日本語".truncated(toCells: 4) == "日…")
        #expect("日本語".fitted(toCells: 4) == "日… ")
        #expect("abc".truncated(toCells: 1) == "…")
        #expect("abc".truncated(toCells: 0).isEmpty)
        #expect("7".padded(toCells: 3, alignment: .trailing) == "  7")
    }

    @Test("a styled line is truncated across its spans")
    func styledTruncation() {
        var line = StyledLine("abc", .bold)
        line.append("def")
        #expect(line.truncated(toCells: 6).plainText == "abcdef")
        #expect(line.truncated(toCells: 5).plainText == "abcd…")
        #expect(line.truncated(toCells: 3).plainText == "ab…")
        #expect(line.truncated(toCells: 4).cells == 4)
        var wide = StyledLine("日本")
        wide.append("x")
        #expect(wide.truncated(toCells: 4).cells <= 4)
    }

    @Test("words wrap at spaces; a long word breaks inside")
    func wrap() {
        #expect("one two three".wrapped(toCells: 7) == ["one two", "three"])
        #expect("abcdefgh ij".wrapped(toCells: 3) == ["abc", "def", "gh", "ij"])
        #expect("日本語".wrapped(toCells: 1) == ["日", "本", "語"])
        #expect("  ".wrapped(toCells: 5).isEmpty)
        #expect("a".wrapped(toCells: -1) == ["a"])
    }

    @Test("a table aligns its columns, escapes its cells and shrinks flexible columns")
    func table() {
        var table = TextTable(columns: [
            .init("NAME"), .init("SIZE", alignment: .trailing), .init("PATH", isFlexible: true),
        ])
        table.append(["日本", "7", "/a/very/long/path/indeed"])
        table.append(["b\u{1B}", "1234"])
        #expect(table.lines() == ["NAME     SIZE  PATH", "日本        7  /a/very/long/path/indeed", #"b\u{1B}  1234"#])
        #expect(table.lines(width: 25) == ["NAME     SIZE  PATH", "日本        7  /a/very/l…", #"b\u{1B}  1234"#])
        #expect(table.lines(width: 12).allSatisfy { CellWidth.of($0) <= 12 })
    }
}
