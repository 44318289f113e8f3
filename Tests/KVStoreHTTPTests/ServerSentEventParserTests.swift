import Foundation
import Testing

@testable import KVStoreHTTP

@Suite("Server-sent events")
struct ServerSentEventParserTests {
    private func parse(_ text: String) throws -> [ServerSentItem] {
        var parser = ServerSentEventParser()
        return try parser.append(Array(text.utf8))
    }

    private func event(_ data: String, name: String = "message", id: String? = nil)
        -> ServerSentItem
    {
        .event(ServerSentEvent(name: name, data: Data(data.utf8), lastID: id))
    }

    @Test("lines end with LF, CR or CRLF, in any mixture", arguments: ["\n", "\r", "\r\n"])
    func lineEnds(end: String) throws {
        let text = ["event: change", "data: 1", "", ": hello", "data: 2", "", ""]
            .joined(separator: end)
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
            whole == [
                event("{\"k\":\"ü\"}\n\n x", name: "change", id: "7"), .comment,
                event("", name: "reset", id: "7"), .retry(1_500), event("last", id: ""),
            ])
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

    @Test("only the first space after the colon is taken away; a field may have no colon")
    func fields() throws {
        #expect(try parse("data:x\ndata: x\ndata:  x\ndata\n\n") == [event("x\nx\n x\n")])
        #expect(try parse("unknown: y\nDATA: z\n\n") == [])
    }

    @Test("an id holds on until another one comes, and one with a NUL is ignored")
    func ids() throws {
        #expect(
            try parse("id: 1\ndata: a\n\ndata: b\n\nid: 2\u{0}\ndata: c\n\n")
                == [event("a", id: "1"), event("b", id: "1"), event("c", id: "1")])
    }

    @Test("a byte order mark is dropped at the start and nowhere else")
    func byteOrderMark() throws {
        #expect(try parse("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n") == [event("a")])
    }

    @Test("retry is taken only as a plain number")
    func retry() throws {
        #expect(
            try parse("retry: 10\nretry: -1\nretry: 1.5\nretry:\nretry: 99999999999999999999\n")
                == [.retry(10)])
    }

    @Test("what is not finished by a blank line is no event")
    func unfinished() throws {
        #expect(try parse("data: a") == [])
        #expect(try parse("data: a\n") == [])
        #expect(try parse("\n\n\n") == [])
    }

    @Test("a line or an event beyond the limit is an error, also when it comes in pieces")
    func limits() throws {
        var line = ServerSentEventParser(limit: 16)
        #expect(try line.append(Array("data: 0123456789".utf8)) == [])
        #expect(throws: ServerSentEventError.lineTooLong(limit: 16)) { try line.append([0x30]) }
        var event = ServerSentEventParser(limit: 16)
        _ = try event.append(Array("data: 01234567\n".utf8))
        #expect(throws: ServerSentEventError.eventTooLarge(limit: 16)) {
            try event.append(Array("data: 01234567\n".utf8))
        }
        var many = ServerSentEventParser(limit: 64)
        #expect(throws: ServerSentEventError.eventTooLarge(limit: 64)) {
            for _ in 0..<200 { _ = try many.append(Array("data\n".utf8)) }
        }
    }
}
