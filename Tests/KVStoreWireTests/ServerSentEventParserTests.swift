import Foundation
import KVStoreWire
import StoreTestSupport
import Testing

@Suite("Server-sent events")
struct ServerSentEventParserTests {
    private func parse(_ text: String) throws -> [ServerSentItem] {
        var parser = ServerSentEventParser()
        return try parser.append(Array(text.utf8))
    }

    private func event(_ data: String, name: String = "message") -> ServerSentItem {
        .event(name: name, data: Data(data.utf8))
    }

    @Test("lines end with LF, CR or CRLF, in any combination", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) throws {
        let text = ["event: change", "data: 1", "", ": hello", "data: 2", "", ""].joined(separator: end)
        #expect(try parse(text) == [event("1", name: "change"), .comment, event("2")])
        #expect(try parse("data: a\r\ndata: b\ndata: c\r\r\n") == [event("a\nb\nc")])
    }

    @Test("every split of a stream gives the same items")
    func everySplit() throws {
        let text =
            "\u{FEFF}event: change\r\nid: 7\r\ndata: {\"k\":\"ü\"}\r\ndata:\r\ndata:  x\r\n\r\n"
            + ":\r\n\revent: reset\n\nretry: 1500\rid\ndata: last\n\n"
        let bytes = Array(text.utf8)
        let whole = try parse(text)
        #expect(
            whole == [event("{\"k\":\"ü\"}\n\n x", name: "change"), .comment, event("", name: "reset"), event("last")])
        for split in 0...bytes.count {
            var parser = ServerSentEventParser()
            let items = try parser.append(bytes[..<split]) + parser.append(bytes[split...])
            #expect(items == whole, "split at \(split)")
        }
        var parser = ServerSentEventParser()
        #expect(try bytes.flatMap { try parser.append([$0]) } == whole)
    }

    @Test("random pieces of random streams give what the whole gives")
    func randomPieces() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("\r\n\n: dataeventid0\u{0}ü".utf8)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            var whole = ServerSentEventParser()
            let expected = try whole.append(bytes)
            var parser = ServerSentEventParser()
            var items: [ServerSentItem] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...9, using: &random))
                rest = rest.dropFirst(piece.count)
                items += try parser.append(piece)
            }
            #expect(items == expected, "seed \(seed)")
        }
    }

    @Test("one space after the colon is removed; a field may have no colon")
    func fields() throws {
        #expect(try parse("data:x\ndata: x\ndata:  x\ndata\n\n") == [event("x\nx\n x\n")])
        #expect(try parse("unknown: y\nDATA: z\n\n") == [])
    }

    @Test("ids and retry times are ignored")
    func ignoredFields() throws {
        #expect(try parse("id: 1\nretry: 10\n\nid: 2\u{0}\ndata: a\nretry: x\n\n") == [event("a")])
    }

    @Test("a byte order mark is dropped at the start and nowhere else")
    func byteOrderMark() throws {
        #expect(try parse("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n") == [event("a")])
    }

    @Test("an event without its blank line is dropped")
    func unfinished() throws {
        #expect(try parse("data: a") == [])
        #expect(try parse("data: a\n") == [])
        #expect(try parse("\n\n\n") == [])
    }

    @Test("a line or an event beyond the limit is an error, also in pieces")
    func limits() throws {
        var line = ServerSentEventParser(limit: 16)
        #expect(try line.append(Array("data: 0123456789".utf8)) == [])
        #expect(throws: WireError.eventTooLarge(limit: 16)) { try line.append([0x30]) }
        var event = ServerSentEventParser(limit: 16)
        _ = try event.append(Array("data: 01234567\n".utf8))
        #expect(throws: WireError.eventTooLarge(limit: 16)) {
            try event.append(Array("data: 01234567\n".utf8))
        }
        var many = ServerSentEventParser(limit: 64)
        #expect(throws: WireError.eventTooLarge(limit: 64)) {
            for _ in 0..<200 { _ = try many.append(Array("data\n".utf8)) }
        }
    }
}
