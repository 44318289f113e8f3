import AsyncHTTPClient
import Essentials
import KVStoreEssentials
import KVStoreWire
import NIOCore

/// Reads the events of a live stream on demand.
///
/// Unchecked because an `AsyncThrowingStream` awaits one event at a time, and only it has the reader.
final class EventReader<Event>: @unchecked Sendable {
    private enum State {
        case idle
        case open(HTTPClientResponse.Body.AsyncIterator)
        case finished
    }

    private let connection: DaemonConnection
    private let path: [String]
    private let query: [(String, String)]
    private let decode: (ServerSentItem) throws(WireError) -> Event?
    private var state = State.idle
    private var parser = ServerSentEventParser()
    /// Parsed items that have not been returned yet.
    private var items: ArraySlice<ServerSentItem> = []

    /// - Parameter decode: returns nil for an item that is passed over.
    init(
        _ connection: DaemonConnection, _ path: [String], query: [(String, String)] = [],
        decode: @escaping (ServerSentItem) throws(WireError) -> Event?
    ) {
        self.connection = connection
        self.path = path
        self.query = query
        self.decode = decode
    }

    /// The next event; nil when the daemon has closed the stream. Throws only `SyncTransportError`.
    func next() async throws -> Event? {
        do {
            while true {
                while let item = items.popFirst() {
                    if let event = try decode(item) { return event }
                }
                guard let bytes = try await nextBytes() else {
                    state = .finished
                    return nil
                }
                items = try parser.append(bytes.readableBytesView)[...]
            }
        } catch {
            // Releasing the iterator closes the connection.
            state = .finished
            items = []
            throw SyncTransportError(error, from: connection)
        }
    }

    private func nextBytes() async throws -> ByteBuffer? {
        var iterator: HTTPClientResponse.Body.AsyncIterator
        switch state {
        case .finished: return nil
        case .open(let opened): iterator = opened
        case .idle:
            iterator = try await connection.stream(path, query: query).makeAsyncIterator()
        }
        let bytes = try await iterator.next()
        state = .open(iterator)
        return bytes
    }
}
