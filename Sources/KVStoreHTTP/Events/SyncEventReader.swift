import AsyncHTTPClient
import Foundation
import KVStore
import NIOCore

/// Pulls one store's event stream: bytes when they are asked for, events out of them.
///
/// Unchecked because a stream asks for one event at a time, and nobody else has the reader.
final class SyncEventReader: @unchecked Sendable {
    private enum State {
        case idle
        case open(HTTPClientResponse.Body.AsyncIterator)
        case finished
    }

    private let connection: DaemonConnection
    private let path: [String]
    private let query: [(String, String)]
    private var state = State.idle
    private var parser = ServerSentEventParser()
    /// Items of the last piece of bytes that have not been asked for yet.
    private var items: ArraySlice<ServerSentItem> = []

    init(_ connection: DaemonConnection, store: String, since: UInt64, epoch: String) {
        self.connection = connection
        path = ["stores", store, "changes"]
        query = [("since", String(since)), ("epoch", epoch)]
    }

    /// The next event; nil when the daemon has closed the stream. Throws `SyncTransportError` only.
    func next() async throws -> SyncEvent? {
        do {
            while true {
                while let item = items.popFirst() {
                    if let event = try SyncEventCodec.event(item) { return event }
                }
                guard let bytes = try await nextBytes() else {
                    state = .finished
                    return nil
                }
                items = try parser.append(bytes.readableBytesView)[...]
            }
        } catch {
            // The iterator goes with it, which closes the connection.
            state = .finished
            items = []
            if error is ServerSentEventError {
                throw SyncTransportError.malformed(
                    "\(connection.address): an event is larger than "
                        + "\(HTTPLimits.eventByteCount) bytes")
            }
            throw ConnectionFailure.error(
                error, address: connection.address, timeouts: connection.timeouts)
        }
    }

    private func nextBytes() async throws -> ByteBuffer? {
        var iterator: HTTPClientResponse.Body.AsyncIterator
        switch state {
        case .finished: return nil
        case .open(let opened): iterator = opened
        case .idle:
            iterator = try await connection.stream(path, query: query, accept: "text/event-stream")
                .makeAsyncIterator()
        }
        let bytes = try await iterator.next()
        state = .open(iterator)
        return bytes
    }
}
