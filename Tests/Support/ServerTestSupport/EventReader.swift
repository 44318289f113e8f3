import Foundation
package import KVStoreCore
import KVStoreWire
import NIOCore

/// Events of a live stream as they come over a raw connection.
package struct EventReader {
    package struct Event: Sendable, Equatable {
        package var name: String?
        package var id: String?
        package var data: String?
        package var comment: String?
    }

    package let connection: RawConnection
    private var iterator: AsyncStream<ByteBuffer>.AsyncIterator
    private var raw = ByteBuffer()
    private var text = ""
    package private(set) var head: String?

    package init(port: Int, path: String, token: String, more: String = "") async throws {
        connection = try await RawConnection.open(port: port)
        iterator = connection.bytes.makeAsyncIterator()
        try await connection.send(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\(more)\r\n"
        )
    }

    /// The next event or comment; nil at the end of the stream.
    package mutating func next() async -> Event? {
        while true {
            if let end = text.range(of: "\n\n") {
                let block = text[..<end.lowerBound]
                text = String(text[end.upperBound...])
                return Self.event(block)
            }
            guard let buffer = await iterator.next(isolation: nil) else { return nil }
            raw.writeImmutableBuffer(buffer)
            parse()
        }
    }

    /// Parses the head, then chunks.
    private mutating func parse() {
        if head == nil {
            let view = raw.readableBytesView
            guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
            head = String(decoding: view[..<end.lowerBound], as: UTF8.self)
            raw.moveReaderIndex(to: end.upperBound)
        }
        while true {
            let view = raw.readableBytesView
            guard let line = view.firstRange(of: Array("\r\n".utf8)),
                let count = Int(String(decoding: view[..<line.lowerBound], as: UTF8.self), radix: 16),
                view.endIndex >= line.upperBound + count + 2
            else { return }
            text += String(decoding: view[line.upperBound..<line.upperBound + count], as: UTF8.self)
            raw.moveReaderIndex(to: line.upperBound + count + 2)
        }
    }

    private static func event(_ block: Substring) -> Event {
        var event = Event()
        for line in block.split(separator: "\n") {
            if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
            if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
            if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
            if line.hasPrefix(":") { event.comment = String(line.dropFirst(2)) }
        }
        return event
    }
}

extension EventReader.Event {
    package var change: SequencedRecord? {
        guard name == "change", let data else { return nil }
        return try? WireJSON.decode(from: Data(data.utf8))
    }
}
