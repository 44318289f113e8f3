package import Essentials

/// An item of an event stream.
package enum ServerSentItem: Sendable, Equatable {
    /// The name is "message" where the stream has none. Data is UTF-8; several lines are joined by line feeds.
    case event(name: String, data: Data)
    /// A line that starts with a colon; it keeps the connection alive.
    case comment
}

/// Parses `text/event-stream` (WHATWG HTML, section 9.2.6) from pieces of any size.
///
/// Lines end with CR, LF or CRLF. `id` and `retry` are ignored: a replica continues from the cursor of its own data
/// and has its own back-off. Unlike a browser, the parser returns a named event without data. An event that the end
/// of the stream cuts off is dropped. After an error the parser must not be used.
package struct ServerSentEventParser: Sendable {
    private let limit: Int
    private var line: [UInt8] = []
    private var isFirstLine = true
    private var endedWithCR = false
    private var name: String?
    private var data: Data?

    /// - Parameter limit: bytes of a line, and of the data of one event.
    package init(limit: Int = DocumentLimits.eventByteCount) {
        self.limit = limit
    }

    /// Returns the items that `bytes` complete.
    package mutating func append(_ bytes: some Collection<UInt8>) throws(WireError) -> [ServerSentItem] {
        var items: [ServerSentItem] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            if endedWithCR {
                endedWithCR = false
                if rest.first == Self.lineFeed {
                    rest = rest.dropFirst()
                    continue
                }
            }
            let end = rest.firstIndex { $0 == Self.lineFeed || $0 == Self.carriageReturn }
            let part = rest[..<(end ?? rest.endIndex)]
            guard part.count <= limit - line.count else { throw .eventTooLarge(limit: limit) }
            line.append(contentsOf: part)
            guard let end else { break }
            endedWithCR = rest[end] == Self.carriageReturn
            rest = rest[rest.index(after: end)...]
            if let item = try finishLine() { items.append(item) }
        }
        return items
    }

    private mutating func finishLine() throws(WireError) -> ServerSentItem? {
        var content = line[...]
        if isFirstLine {
            isFirstLine = false
            if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        }
        defer { line.removeAll(keepingCapacity: line.capacity <= Self.keptCapacity) }
        if content.isEmpty { return finishEvent() }
        let colon = content.firstIndex(of: UInt8(ascii: ":")) ?? content.endIndex
        if colon == content.startIndex { return .comment }
        var value = content[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        let field = content[..<colon]
        if field.elementsEqual("data".utf8) {
            guard (data?.count ?? 0) + value.count < limit else {
                throw .eventTooLarge(limit: limit)
            }
            if data == nil { data = Data() } else { data?.append(Self.lineFeed) }
            data?.append(contentsOf: value)
        } else if field.elementsEqual("event".utf8) {
            name = String(decoding: value.prefix(DocumentLimits.eventNameByteCount), as: UTF8.self)
        }
        return nil
    }

    private mutating func finishEvent() -> ServerSentItem? {
        defer {
            name = nil
            data = nil
        }
        guard name != nil || data != nil else { return nil }
        return .event(name: name.flatMap { $0.isEmpty ? nil : $0 } ?? "message", data: data ?? Data())
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let keptCapacity = 64 * 1_024
}
