import Foundation

/// Reads `text/event-stream` (WHATWG HTML, section 9.2.6) from pieces of any size.
///
/// Lines end with CR, LF or CRLF. In one thing it is wider than a browser: a named event without data is
/// an event too. What a stream leaves unfinished at its end is dropped. After an error the parser must not be used.
struct ServerSentEventParser: Equatable, Sendable {
    private let limit: Int
    private var line: [UInt8] = []
    private var isFirstLine = true
    private var endedWithCR = false
    private var name: String?
    private var data: Data?
    private var lastID: String?

    /// - Parameter limit: bytes of a line, and of the data of one event.
    init(limit: Int = HTTPLimits.eventByteCount) {
        self.limit = limit
    }

    /// The items that `bytes` complete.
    mutating func append(
        _ bytes: some Collection<UInt8>
    ) throws(ServerSentEventError) -> [ServerSentItem] {
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
            guard part.count <= limit - line.count else { throw .lineTooLong(limit: limit) }
            line.append(contentsOf: part)
            guard let end else { break }
            endedWithCR = rest[end] == Self.carriageReturn
            rest = rest[rest.index(after: end)...]
            if let item = try finishLine() { items.append(item) }
        }
        return items
    }

    private mutating func finishLine() throws(ServerSentEventError) -> ServerSentItem? {
        var content = line[...]
        if isFirstLine {
            isFirstLine = false
            if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        }
        defer { line.removeAll(keepingCapacity: line.capacity <= Self.keptCapacity) }
        if content.isEmpty { return finishEvent() }
        guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else {
            return try field(content, value: [])
        }
        if colon == content.startIndex { return .comment }
        var value = content[content.index(after: colon)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        return try field(content[..<colon], value: value)
    }

    private mutating func field(
        _ field: ArraySlice<UInt8>, value: ArraySlice<UInt8>
    ) throws(ServerSentEventError) -> ServerSentItem? {
        if field.elementsEqual("data".utf8) {
            guard (data?.count ?? 0) + value.count < limit else {
                throw .eventTooLarge(limit: limit)
            }
            if data == nil { data = Data() } else { data?.append(Self.lineFeed) }
            data?.append(contentsOf: value)
        } else if field.elementsEqual("event".utf8) {
            name = Self.text(value)
        } else if field.elementsEqual("id".utf8) {
            if !value.contains(0) { lastID = Self.text(value) }
        } else if field.elementsEqual("retry".utf8), !value.isEmpty,
            value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let milliseconds = Int(Self.text(value) ?? "")
        {
            return .retry(milliseconds)
        }
        return nil
    }

    private mutating func finishEvent() -> ServerSentItem? {
        defer {
            name = nil
            data = nil
        }
        guard name != nil || data != nil else { return nil }
        return .event(
            ServerSentEvent(
                name: name.flatMap { $0.isEmpty ? nil : $0 } ?? "message", data: data ?? Data(),
                lastID: lastID))
    }

    /// Nil when it is longer than a name or an id has reason to be.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.count <= HTTPLimits.eventNameByteCount ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let keptCapacity = 64 * 1_024
}
