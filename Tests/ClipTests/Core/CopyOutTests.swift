@testable import clip
import Foundation
import Testing

@Suite("Copying out")
struct CopyOutTests {
    private static let text = ClipContents.Part(.text, "foo")
    private static let image = ClipContents.Part(.png, Data([1]))

    private func outcome(
        _ environment: CopyOutEnvironment, _ part: ClipContents.Part = text, to target: CopyTarget? = nil
    ) -> String {
        do {
            let copy = try CopyOut.choose(part, in: environment, to: target)
            return "\(copy.target.rawValue): \(copy.report)"
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "the first way that applies is taken",
        arguments: [
            (CopyOutEnvironment(isRemote: true, tmuxVersion: "tmux 3.4"), "tmux: sent through tmux"),
            (CopyOutEnvironment(tmuxVersion: "tmux 3.2a"), "tmux: sent through tmux"),
            (CopyOutEnvironment(tmuxVersion: "tmux next-3.5"), "tmux: sent through tmux"),
            (CopyOutEnvironment(tmuxVersion: "tmux 3.1c"), "osc52: sent to the terminal"),
            (CopyOutEnvironment(tmuxVersion: "tmux master"), "osc52: sent to the terminal"),
            (CopyOutEnvironment(isRemote: true, hasX11Display: true), "osc52: sent to the terminal"),
            (CopyOutEnvironment(), "osc52: sent to the terminal"),
            (CopyOutEnvironment(hasWaylandDisplay: true, hasX11Display: true), "wl: copied"),
            (CopyOutEnvironment(tmuxVersion: "tmux 3.4", hasWaylandDisplay: true), "wl: copied"),
            (CopyOutEnvironment(hasX11Display: true), "x11: copied"),
            (CopyOutEnvironment(isRemote: true, hasTerminal: false, hasX11Display: true), "x11: copied"),
        ])
    func order(environment: CopyOutEnvironment, expected: String) {
        #expect(outcome(environment) == expected)
    }

    @Test("a target that is asked for is taken, or refused with the reason")
    func requested() {
        let here = CopyOutEnvironment(hasWaylandDisplay: true, tools: [])
        #expect(outcome(here, to: .stdout) == "stdout: written")
        #expect(outcome(here, to: .osc52) == "osc52: sent to the terminal")
        #expect(outcome(here, to: .tmux) == "cannot copy to tmux: not inside tmux")
        #expect(outcome(here, to: .x11) == "cannot copy to x11: no X11 display")
        #expect(outcome(here).contains("wl-copy is not installed"))
        #expect(outcome(CopyOutEnvironment(hasX11Display: true, tools: [])).contains("neither xclip nor xsel"))
        #expect(outcome(CopyOutEnvironment(hasTerminal: false)).hasPrefix("no clipboard here"))
        let old = CopyOutEnvironment(tmuxVersion: "tmux 2.9")
        #expect(outcome(old, to: .tmux).contains("needs tmux 3.2 or newer, this is tmux 2.9"))
    }

    @Test("a terminal takes 74,994 bytes, and longer text is refused with its size, not cut")
    func terminalLimit() throws {
        let longest = ClipContents.Part(.text, Data(count: CopyOut.terminalByteLimit))
        let copy = try CopyOut.choose(longest, in: CopyOutEnvironment())
        guard case .terminal(let sequence) = copy.method else {
            Issue.record("not written to the terminal")
            return
        }
        #expect(sequence.count == 100_000)
        let longer = ClipContents.Part(.text, Data(count: CopyOut.terminalByteLimit + 1))
        #expect(throws: CopyOut.Failure.tooLong(byteCount: 74_995)) {
            try CopyOut.choose(longer, in: CopyOutEnvironment())
        }
        #expect(CopyOut.Failure.tooLong(byteCount: 74_995).description.contains("74995 bytes"))
    }

    @Test("images go to displays alone")
    func images() {
        #expect(outcome(CopyOutEnvironment(), Self.image).hasPrefix("image/png cannot be copied to osc52"))
        #expect(outcome(CopyOutEnvironment(hasWaylandDisplay: true), Self.image) == "wl: copied")
        let xsel = CopyOutEnvironment(hasX11Display: true, tools: [.xsel])
        #expect(outcome(xsel, Self.image).contains("x11, which takes text"))
    }

    /// Named, as the next two, after Maccy's tests of its clipboard.
    @Test("the type is stated, since it would be guessed")
    func testCopy() throws {
        #expect(
            try CopyOut.choose(Self.image, in: CopyOutEnvironment(hasWaylandDisplay: true)).method
                == .program(arguments: ["wl-copy", "--type", "image/png"]))
        #expect(
            try CopyOut.choose(Self.image, in: CopyOutEnvironment(hasX11Display: true)).method
                == .program(arguments: ["xclip", "-selection", "clipboard", "-t", "image/png"]))
        let contents = ClipContents([.init(.html, "<img>"), Self.image])
        #expect(contents.representation() == Self.image)
        #expect(contents.representation(.html)?.type == .html)
        #expect(contents.representation(.rtf) == nil && ClipContents([]).representation() == nil)
    }

    @Test("text is copied as UTF-8")
    func testCopyString() throws {
        let terminal = try CopyOut.choose(Self.text, in: CopyOutEnvironment())
        #expect(terminal.method == .terminal(sequence: Data("\u{1B}]52;c;Zm9v\u{7}".utf8)))
        #expect(
            try CopyOut.choose(Self.text, in: CopyOutEnvironment(hasX11Display: true)).method
                == .program(arguments: ["xclip", "-selection", "clipboard", "-t", "UTF8_STRING"]))
    }

    @Test("without formatting, text and files stay; without text, everything")
    func testCopyWithoutFormatting() {
        let files = ClipContents.Part(.files, "file:///x")
        let contents = ClipContents([Self.text, .init(.rtf, "{}"), files, Self.image])
        #expect(contents.withoutFormatting == ClipContents([Self.text, files]))
        #expect(contents.representation() == files)
        #expect(contents.representation(plain: true) == Self.text)
        let html = ClipContents([.init(.html, "<b>")])
        #expect(html.withoutFormatting == html && html.representation(plain: true)?.type == .html)
    }
}
