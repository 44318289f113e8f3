@testable import clip
import Foundation
import Testing

/// Named after Maccy's tests of its items.
@Suite("Titles of items")
struct ClipItemTests {
    private func title(_ parts: ClipContents.Part..., symbols: Bool = true) -> String {
        ItemTitle.title(of: ClipItem(ClipContents(parts)), symbols: symbols)
    }

    private func title(_ text: String, symbols: Bool = true) -> String {
        title(ClipContents.Part(.text, text), symbols: symbols)
    }

    @Test("the title of a text is the text")
    func testTitleForString() {
        #expect(title("foo") == "foo")
    }

    @Test("spaces at both ends are shown as dots, or removed")
    func testTitleWithWhitespaces() {
        #expect(title("   foo bar   ") == "···foo bar···")
        #expect(title("   foo bar   ", symbols: false) == "foo bar")
        #expect(title("   ") == "···")
    }

    @Test("line ends are shown as symbols")
    func testTitleWithNewlines() {
        #expect(title("\nfoo\nbar\n") == "⏎foo⏎bar⏎")
        #expect(title("foo\r\nbar") == "foo⏎bar")
    }

    @Test("tabs are shown as symbols")
    func testTitleWithTabs() {
        #expect(title("\tfoo\tbar\t") == "⇥foo⇥bar⇥")
    }

    @Test("the title of RTF is its text")
    func testTitleWithRTF() {
        let rtf = #"{\rtf1{\fonttbl{\f0 Sans;}}{\*\generator x;}\f0\b foo\b0\par caf\'e9 \u8364?\{x\}}"#
        #expect(title(.init(.rtf, rtf)) == "foo⏎café €{x}")
    }

    @Test("the title of HTML is its text")
    func testTitleWithHTML() {
        #expect(title(.init(.html, "<a href='#'>foo</a>")) == "foo")
        let page = """
            <html><head><title>no</title></head><style>p { color: red }</style><!-- no -->
            <p>one &amp; two<br>three&#33;</p>
            """
        #expect(title(.init(.html, page)) == "one & two⏎three!")
        #expect(title(.init(.html, "1 < 2 && a<script>x()</script>b &unknown; c")) == "1 < 2 && ab &unknown; c")
    }

    @Test("damaged HTML and RTF have some title")
    func damagedMarkup() {
        for text in [
            "<", "<a", "<!--", "&", "&#xFFFFFFFF;", "&#", "<script>", "{\\rtf", "\\", "\\'",
            "\\u-99999999", "\\bin9999999", "}}}", String(repeating: "{", count: 10_000),
        ] {
            #expect(title(.init(.html, text)).count <= text.count)
            #expect(title(.init(.rtf, text)).count <= text.count)
        }
    }

    @Test("an image has no title but that of the text beside it, also as a stub")
    func testImage() {
        let both = ClipContents([.init(.text, "cells"), .init(.png, Data(count: 100_000))])
        #expect(ItemTitle.title(of: ClipItem(both)) == "cells")
        #expect(title(.init(.html, "<img src='x'>"), .init(.png, Data([1]))).isEmpty)
        #expect(title(.init(.png, Data([1, 2]))).isEmpty)
    }

    @Test("the title of a file is its URL")
    func testFile() {
        #expect(title(.init(.files, "file:///tmp/foo.bar"), .init(.text, "foo.bar")) == "file:///tmp/foo.bar")
        #expect(title(.init(.gnomeFiles, "copy\nfile:///a\nfile:///b")) == "file:///a⏎file:///b")
    }

    @Test("URLs of files are decoded")
    func testFileWithEscapedChars() {
        let escaped = "file:///tmp/%E4%BA%A7%E5%93%81%20x.txt\r\n"
        #expect(title(.init(.files, escaped)) == "file:///tmp/产品 x.txt")
    }

    @Test("text, image and file of another device are as those of this one")
    func testTextImageFileFromUniversalClipboard() {
        let marker = ClipContents.Part(ContentType(rawValue: "com.apple.is-remote-clipboard"), Data())
        #expect(title(.init(.text, "foo"), marker) == "foo")
        #expect(title(.init(.png, Data([1])), marker).isEmpty)
        #expect(title(.init(.files, "file:///tmp/x"), marker) == "file:///tmp/x")
    }

    @Test("an item without data has no title, or the one it carries")
    func testItemWithoutData() {
        #expect(title().isEmpty)
        let carried = ClipItem(body: .contents(ClipContents([])), origin: .init(device: "desk", title: "old"), at: 0)
        #expect(ItemTitle.title(of: carried) == "old")
    }

    @Test("a title is cut to 1,000 characters before symbols are put in, a preview to 10,000")
    func lengths() {
        let text = String(repeating: "a ", count: 6_000)
        #expect(title(text).count == 1_000 && title(text).hasSuffix("a·"))
        #expect(ItemTitle.preview(of: ClipItem(ClipContents([.init(.html, text)]))).count == 10_000)
    }

    @Test("contents over the limit become a stub with title and sizes")
    func stub() throws {
        let limit = ItemByteLimit(kibibytes: 1)
        let text = String(repeating: "word ", count: 300)
        let item = limit.item(of: ClipContents(text: text), on: "desk", at: 5)
        #expect(item.contents == nil)
        #expect(ItemTitle.title(of: item) == String(text.prefix(999)) + "·")
        guard case .stub(let stub) = item.body else {
            Issue.record("contents of \(text.utf8.count) bytes are no stub")
            return
        }
        #expect(stub.parts == [.init(type: .text, byteCount: 1_500)] && stub.byteCount == 1_500)
        #expect(ItemByteLimit(kibibytes: 1_000).byteCount == 65_536)
    }

    @Test("a stub of an image has its dimensions")
    func imageSizes() {
        let png =
            Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) + Data("IHDR".utf8)
            + Data([0, 0, 2, 128, 0, 0, 1, 224, 8, 6])
        #expect(PixelSize(of: png) == PixelSize(width: 640, height: 480))
        let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 17, 8, 1, 224, 2, 128, 3, 0])
        #expect(PixelSize(of: jpeg) == PixelSize(width: 640, height: 480))
        #expect(ContentStub(of: ClipContents([.init(.png, png)])).imageSize?.width == 640)
        for length in 0..<png.count { _ = PixelSize(of: png.prefix(length)) }
        for length in 0..<jpeg.count { _ = PixelSize(of: jpeg.prefix(length)) }
    }

    @Test("names of the same type are one")
    func typeNames() {
        for name in ["UTF8_STRING", "text/plain;charset=utf-8", "TEXT/PLAIN; charset=UTF-8", "public.utf8-plain-text"] {
            #expect(ContentType(rawValue: name) == .text, "\(name)")
        }
        #expect(ContentType(rawValue: "text/plain;charset=latin1").kind == nil)
        #expect(ContentType(rawValue: "STRING").kind == nil)
        #expect(ContentType(rawValue: String(repeating: "x", count: 999)).rawValue.utf8.count == 128)
    }

    // Named after ShortenedTests and ColorImageTests.

    @Test("text is shortened to so many characters, each whole")
    func testShortened() {
        #expect("abcdef".shortened(to: 3) == "abc" && "abc".shortened(to: 3) == "abc")
        #expect("".shortened(to: 3).isEmpty && "abc".shortened(to: -1).isEmpty)
        #expect("👍🏽e\u{301}x".shortened(to: 2) == "👍🏽e\u{301}")
        #expect(String(repeating: "a", count: 1 << 20).shortened(to: 10_000).count == 10_000)
    }

    @Test("three digits are a color")
    func testColorImageFromShortHex() throws {
        let color = try #require(HexColor("fff"))
        #expect(color.red == 255 && color.green == 255 && color.blue == 255)
    }

    @Test("six digits are a color")
    func testColorFromFullHex() throws {
        let color = try #require(HexColor("#ff8942"))
        #expect(color.red == 0xFF && color.green == 0x89 && color.blue == 0x42)
    }

    @Test("other texts are no color", arguments: ["foo", "", "#", "ff", "ff894", "ffff8942", "١٢٣"])
    func testColorFromNotHex(text: String) {
        #expect(HexColor(text) == nil)
    }
}
