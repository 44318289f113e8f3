import TestSupport
@testable import clip
import Foundation
import StoreTestSupport
import TerminalText
import Testing

@Suite("The screen of clip pick")
struct PickScreenTests {
    private static func png(byteCount: Int) -> ClipContents {
        let header: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        let size: [UInt8] = Array("IHDR".utf8) + [0, 0, 2, 0x80, 0, 0, 1, 0xE0]
        return ClipContents([.init(.png, Data(header + size + [UInt8](repeating: 0, count: byteCount - 24)))])
    }

    @Test("titles, digits, the preview and hints are on it")
    func whole() {
        var pick = PickSample(["let a = 1\n\tlet b\nc\n", "foo"])
        pick.type(Sent.down)
        #expect(
            pick.text(columns: 46, rows: 12)
                == """
                › ▏type to search                    2 · exact
                  1 foo
                › 2 let a = 1⏎⇥let b⏎c⏎




                ── 3 lines · copied · 9 min ago · on desk ────
                let a = 1
                    let b
                c
                F1 keys · Enter copy · ^D delete · ^T pin · ^…
                """)
    }

    @Test("images and what is on another machine are named as such")
    func labels() {
        var pick = PickSample([])
        pick.copyElsewhere(Self.png(byteCount: 12_345))
        pick.copyElsewhere(Self.png(byteCount: 812_000))
        pick.copyElsewhere(ClipContents(text: String(repeating: "long ", count: 8_000)), device: "lap")
        let text = pick.text(columns: 60)
        #expect(text.contains("image PNG 640×480, 12 KB on desk\n"))
        #expect(text.contains("image PNG 640×480, 812 KB on desk only\n"))
        #expect(text.contains("…  on lap only\n"))
        let key = pick.state.keys[0]
        pick.state.show(pick.history, localContents: [key])
        #expect(!pick.text(columns: 60).contains("on lap only"))
    }

    @Test(
        "what was found is highlighted as set, and the color of a title is shown",
        arguments: zip(HighlightStyle.allCases, [[1, 36], [7, 36], [3, 36], [4, 36]]))
    func styles(style: HighlightStyle, codes: [Int]) throws {
        var settings = ClipSettings()
        settings.highlight = style
        var pick = PickSample(["a #0080ff", "#0080ff"], settings: settings)
        pick.type("80")
        let screen = Screens.applied(pick.lines())
        #expect(screen.cells[1][10].text == "8" && screen.cells[1][10].style == codes)
        #expect(screen.cells[1][9].style == [36])
        #expect(screen.cells[1][4] == .init(text: "█", style: [0x10080FF]))
        #expect(screen.cells[2][4].text == "a")
        #expect(Screens.applied(pick.lines(isColored: false)).cells[1][4].text == "#")
    }

    @Test("hostile text is visible text, in titles, previews, the query and names of machines")
    func hostile() {
        let text = "\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}5n\u{202E}evil\r\n\u{85}x"
        var pick = PickSample([])
        pick.copyElsewhere(ClipContents(text: text), device: "\u{1B}[31mlap")
        pick.type("evil")
        let screen = Screens.applied(pick.lines(columns: 120))
        #expect(screen.unknown.isEmpty)
        #expect(screen.text.contains("\\u{1B}]0;owned\\u{7}\\u{1B}[2J\\u{9B}5n\\u{202E}evil"))
        #expect(screen.text.contains("on \\u{1B}[31mlap"))
    }

    @Test("the selection is on the screen of any size, and no line is wider", arguments: 1...30)
    func sizes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let keys = [
            Sent.up, Sent.down, "\u{1B}[5~", "\u{1B}[6~", "\u{1B}[H", "\u{1B}[F", "1",
            Sent.backspace, Sent.control("d"), Sent.control("t"), Sent.tab,
        ]
        var pick = PickSample((0..<60).map { "日本\($0) 語" + String(repeating: "é", count: $0) })
        for _ in 0..<80 {
            pick.type(keys.randomElement(using: &random) ?? Sent.down)
            let (columns, rows) = (Int.random(in: 24...120, using: &random), Int.random(in: 3...40, using: &random))
            let lines = pick.lines(columns: columns, rows: rows)
            #expect(lines.count == rows, "seed \(seed)")
            let isMarked = lines.dropFirst().contains { $0.plainText.hasPrefix("› ") }
            #expect(isMarked == (pick.selected != nil), "seed \(seed)")
            #expect(lines.allSatisfy { $0.cells <= columns }, "seed \(seed)")
        }
    }

    @Test("F1 shows the keys beside those of Maccy")
    func help() {
        var pick = PickSample(["foo"])
        pick.type(Sent.help)
        #expect(pick.text(columns: 110).contains("Alt-V"))
        #expect(pick.text(columns: 110).contains("Option-Shift-Return"))
        pick.type("x")
        #expect(pick.state.query.isEmpty && pick.text().contains("› 1 foo"))
    }
}
