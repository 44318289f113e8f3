import Foundation
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("The live screen")
struct LiveTests {
    @Test("bytes are parsed as keys")
    func keys() {
        var parser = KeyParser()
        #expect(
            parser.keys(from: Array("q\r\u{3}é日".utf8))
                == [.character("q"), .enter, .interrupt, .character("é"), .character("日")])
        #expect(
            parser.keys(from: Array("\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[1;5C".utf8))
                == [.up, .down, .pageUp, .pageDown, .home, .unknown])
        #expect(parser.endOfInput().isEmpty)
    }

    @Test("a sequence may arrive in pieces, and a lone escape byte is the escape key")
    func pieces() {
        var parser = KeyParser()
        #expect(parser.keys(from: [0x1B]).isEmpty)
        #expect(parser.keys(from: [0x5B]).isEmpty)
        #expect(parser.endOfInput().isEmpty)
        #expect(parser.keys(from: [0x41]) == [.up])
        #expect(parser.keys(from: [0xE6]).isEmpty)
        #expect(parser.keys(from: [0x97, 0xA5]) == [.character("日")])
        #expect(parser.keys(from: [0x1B]).isEmpty)
        #expect(parser.endOfInput() == [.escape])
        #expect(parser.keys(from: [0x1B, 0x71]) == [.escape, .character("q")])
    }

    @Test("noise is bounded and never traps", arguments: 1...5 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var parser = KeyParser()
        var value = seed
        for _ in 1...5_000 {
            value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            _ = parser.keys(from: [UInt8(truncatingIfNeeded: value >> 33)])
        }
        #expect(parser.keys(from: [0x1B] + Array(repeating: 0x30, count: 40)).count > 0)
    }

    @Test("a frame overwrites every line and clears the rest of the screen")
    func frame() {
        let screen = [StyledLine("a", .bold), StyledLine("b")]
        #expect(
            ANSI.frame(screen, isColored: true)
                == "\u{1B}[?2026h\u{1B}[H\u{1B}[1ma\u{1B}[0m\u{1B}[K\r\nb\u{1B}[K\u{1B}[J"
                + "\u{1B}[?2026l")
        #expect(screen.text(isColored: false) == "a\nb\n")
    }
}
