import StoreTestSupport
import Testing

@testable import TerminalText

@Suite("Untrusted text")
struct VisibleTextTests {
    @Test(
        "dangerous characters are escaped",
        arguments: [
            ("a\u{1B}[2Jb", #"a\u{1B}[2Jb"#), ("a\nb\tc\r\n", #"a\u{A}b\u{9}c\u{D}\u{A}"#),
            ("\u{7F}\u{9B}31m", #"\u{7F}\u{9B}31m"#),
            ("abc\u{202E}def\u{2066}", #"abc\u{202E}def\u{2066}"#),
            ("pay\u{200B}pal\u{FEFF}\u{AD}", #"pay\u{200B}pal\u{FEFF}\u{AD}"#),
            ("\u{2028}\u{E0041}\u{E000}", #"\u{2028}\u{E0041}\u{E000}"#),
            ("\u{FFFD}\u{3164}", #"\u{FFFD}\u{3164}"#),
            ("a\u{301}\u{301}\u{301}\u{301}\u{301}", "a\u{301}\u{301}\u{301}\u{301}\\u{301}"),
        ])
    func escaped(text: String, shown: String) {
        #expect(VisibleText.escape(text) == shown)
    }

    @Test("ordinary text is unchanged", arguments: ["", "Max 5x", "Zoë", "日本語", "🧪 ok", "é", "🇨🇭", "naïve — “quoted”"])
    func unchanged(text: String) {
        #expect(VisibleText.escape(text) == text)
    }

    @Test("variation selectors are removed")
    func variation() {
        #expect(VisibleText.escape("❤\u{FE0F}") == "❤")
    }

    @Test("escaping is idempotent and leaves no control character", arguments: 1...5)
    func generated(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 1...200 {
            var text = String.UnicodeScalarView()
            for _ in 1...20 {
                let limit: UInt32 = Bool.random(using: &generator) ? 0x2100 : 0x11_0000
                if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &generator)) {
                    text.append(scalar)
                }
            }
            let shown = VisibleText.escape(String(text))
            #expect(VisibleText.escape(shown) == shown, "seed \(seed)")
            #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "seed \(seed)")
        }
    }

    @Test("text is escaped line by line up to the limit")
    func lines() {
        #expect(VisibleText.escapedLines("a\r\nb\u{7}\n\nc", limit: 9) == ["a", #"b\u{7}"#, "", "c"])
        #expect(VisibleText.escapedLines("a\nb\nc", limit: 2) == ["a", "b"])
    }

    @Test("a sign of XML is escaped, also with a combining mark")
    func markup() {
        #expect(XMLText.escape("a < b & \"c\" > 'd'") == "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;")
        #expect(XMLText.escape("<\u{301}b>&\u{327}") == "&lt;\u{301}b&gt;&amp;\u{327}")
    }
}
