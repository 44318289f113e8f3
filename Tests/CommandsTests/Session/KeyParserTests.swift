import StoreTestSupport
import Commands
import Testing

@Suite("Keys")
struct KeyParserTests {
    private static func keys(_ text: String) -> [Key] {
        var parser = KeyParser()
        return parser.keys(from: Array(text.utf8)) + parser.endOfInput()
    }

    @Test(
        "bytes are parsed as keys",
        arguments: [
            ("q", .character("q")), ("é", .character("é")), ("日", .character("日")),
            (" ", .character(" ")), ("\r", .enter), ("\n", .enter), ("\u{1B}OM", .enter),
            ("\t", .tab), ("\u{1B}[Z", .backTab), ("\u{7F}", .backspace), ("\u{8}", .backspace),
            ("\u{1B}[3~", .delete), ("\u{1B}", .escape), ("\u{3}", .interrupt),
            ("\u{4}", .interrupt), ("\u{1C}", .interrupt), ("\u{1A}", .suspend),
            ("\u{C}", .redraw), ("\u{1}", .control("a")), ("\u{17}", .control("w")),
            ("\u{1B}[A", .up), ("\u{1B}OB", .down), ("\u{1B}[C", .right), ("\u{1B}OD", .left),
            ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home),
            ("\u{1B}[1~", .home), ("\u{1B}OF", .end), ("\u{1B}[4~", .end),
            ("\u{1B}OP", .function(1)),
            ("\u{1B}[[A", .function(1)), ("\u{1B}[15~", .function(5)),
            ("\u{1B}[24~", .function(12)), ("\u{1B}[1;5C", .unknown), ("\u{1B}]", .unknown),
            ("\u{0}", .unknown), ("\u{9B}", .unknown), ("\u{202E}", .unknown),
            ("\u{1B}[<0;12;7M", .mouse(MouseEvent(action: .press, column: 11, row: 6))),
            ("\u{1B}[<20;1;1M", .mouse(MouseEvent(action: .press, column: 0, row: 0))),
            ("\u{1B}[<64;3;4M", .mouse(MouseEvent(action: .wheelUp, column: 2, row: 3))),
            ("\u{1B}[<65;300;400M", .mouse(MouseEvent(action: .wheelDown, column: 299, row: 399))),
            ("\u{1B}[?2026;2$y", .mode(2_026, isSupported: true)),
            ("\u{1B}[?2026;0$y", .mode(2_026, isSupported: false)),
            ("\u{1B}[?2026;4$y", .mode(2_026, isSupported: false)),
            ("\u{1B}[200~a q\r\nb\u{1B}[201~", .paste("a q b")),
            ("\u{1B}[200~\u{1B}[31mq\u{1B}\u{1B}[201~", .paste("31mq")),
        ] as [(String, Key)])
    func key(bytes: String, key: Key) {
        #expect(Self.keys(bytes) == [key])
    }

    @Test(
        "what a terminal reports and nobody asked for is no key",
        arguments: [
            "\u{1B}[I", "\u{1B}[O", "\u{1B}[201~", "\u{1B}[?62;22c", "\u{1B}]11;rgb:0/0/0\u{7}",
            "\u{1B}]11;rgb:0/0/0\u{1B}\\", "\u{1B}P1+r544e=78\u{1B}\\", "\u{1B}_Gi=1;OK\u{1B}\\",
            "\u{1B}[<0;1;1m", "\u{1B}[<35;1;1M", "\u{1B}[<0;0;1M",
            "\u{1B}[<0;99999999999999999999;1M",
            "\u{1B}[M q!", "\u{1B}[200~\u{1B}[201~",
        ])
    func reports(bytes: String) {
        #expect(Self.keys(bytes + "q") == [.character("q")])
    }

    @Test("a sequence may arrive in pieces, and a lone escape byte is the escape key")
    func pieces() {
        var parser = KeyParser()
        #expect(parser.keys(from: [0x1B]).isEmpty && parser.isUndecided)
        #expect(parser.keys(from: [0x5B]).isEmpty && !parser.isUndecided)
        #expect(parser.endOfInput().isEmpty)
        #expect(parser.keys(from: [0x41]) == [.up])
        #expect(parser.keys(from: [0xE6]).isEmpty)
        #expect(parser.keys(from: [0x97, 0xA5]) == [.character("日")])
        #expect(parser.keys(from: [0x1B]).isEmpty)
        #expect(parser.endOfInput() == [.escape])
        #expect(parser.keys(from: [0x1B, 0x71]) == [.escape, .character("q")])
        #expect(parser.keys(from: [0xE6, 0x71]) == [.unknown, .character("q")])
    }

    @Test("Control-C gets through an unfinished sequence, string and paste")
    func wayOut() {
        for start in ["\u{1B}[12;", "\u{1B}]0;title", "\u{1B}[200~text", "\u{1B}O", "\u{1B}"] {
            var parser = KeyParser()
            let keys = parser.keys(from: Array((start + "\u{3}q").utf8))
            #expect(keys.suffix(2) == [.interrupt, .character("q")])
        }
    }

    @Test("long text, sequences and strings are bounded")
    func bounded() {
        let long = String(repeating: "7", count: 100_000)
        #expect(Self.keys("\u{1B}[\(long)mq") == [.unknown, .character("q")])
        #expect(Self.keys("\u{1B}]0;\(long)\u{7}q") == [.character("q")])
        let keys = Self.keys("\u{1B}[200~\(long)\u{1B}[201~q")
        #expect(keys == [.paste(String(long.prefix(4_096))), .character("q")])
    }

    // MARK: - Random input

    /// A control sequence or string by the grammar of ECMA-48, or a mouse event in the old form.
    private static func sequence(using random: inout SeededGenerator) -> [UInt8] {
        func bytes(_ range: ClosedRange<UInt8>, _ count: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: count, using: &random)).map { _ in UInt8.random(in: range, using: &random) }
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let kind = Array("]P^_X".utf8).randomElement(using: &random)!
            return [0x1B, kind] + bytes(0x20...0x7E, 1...40)
                + [[0x07], [0x1B, 0x5C]][Int.random(in: 0...1, using: &random)]
        case 1: return Array("\u{1B}[M".utf8) + bytes(0x20...0xFF, 3...3)
        default:
            // Not those whose end is beyond their last byte.
            let body = bytes(0x30...0x3F, 0...80) + bytes(0x20...0x2F, 0...2)
            let final = bytes(0x40...0x7E, 1...1)[0]
            let isOpen = body.isEmpty && [0x4D, 0x5B].contains(final)
            return [0x1B, 0x5B] + (isOpen ? [0x3F] : body) + [body == Array("200".utf8) ? 0x6D : final]
        }
    }

    @Test("no control sequence becomes text, wherever it is split", arguments: 1...300 as ClosedRange<UInt64>)
    func controlSequences(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var parser = KeyParser()
        for _ in 0..<20 {
            var bytes = Self.sequence(using: &random)[...]
            while !bytes.isEmpty {
                let piece = bytes.prefix(Int.random(in: 1...6, using: &random))
                bytes = bytes.dropFirst(piece.count)
                for key in parser.keys(from: Array(piece)) {
                    if case .character = key { Issue.record("\(key), seed \(seed)") }
                    if case .paste = key { Issue.record("\(key), seed \(seed)") }
                }
            }
            #expect(parser.keys(from: [0x71]) == [.character("q")], "seed \(seed)")
        }
    }

    @Test("noise never traps, shows nothing invisible and can be left", arguments: 1...50 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var whole = KeyParser()
        var pieces = KeyParser()
        for _ in 1...200 {
            let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random)
                    : Array("\u{1B}[]OP?;<$~200 201~M\u{3}".utf8).randomElement(using: &random)!
            }
            let keys = whole.keys(from: bytes)
            #expect(bytes.flatMap { pieces.keys(from: [$0]) } == keys, "seed \(seed)")
            for key in keys {
                if case .character(let character) = key {
                    #expect(character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
                }
            }
        }
        #expect(whole == pieces)
        #expect(whole.keys(from: [0x03, 0x03, 0x03]).last == .interrupt, "seed \(seed)")
    }
}
