import Foundation

/// One item of an event stream.
enum ServerSentItem: Equatable, Sendable {
    case event(ServerSentEvent)
    /// A line that starts with a colon: it keeps the connection alive.
    case comment
    /// Milliseconds to wait before connecting again.
    case retry(Int)
}

struct ServerSentEvent: Equatable, Sendable {
    /// "message" where the stream gives none.
    var name = "message"
    /// UTF-8; several `data` lines are joined by line feeds.
    var data = Data()
    /// The last id that the stream gave, which holds on for later events.
    var lastID: String?
}

enum ServerSentEventError: Error, Equatable {
    case lineTooLong(limit: Int)
    case eventTooLarge(limit: Int)
}
