import Essentials
import KVStoreEssentials
import KVStoreWire

/// Reads the events of a live stream on demand.
///
/// Unchecked because an `AsyncThrowingStream` awaits one event at a time, and only it has the reader.
final class EventReader<Event>: @unchecked Sendable {
    private enum State {
        case idle
        case open(() async throws -> Data?)
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
                items = try parser.append(bytes)[...]
            }
        } catch {
            // Releasing what reads it closes the connection.
            state = .finished
            items = []
            throw connection.transportError(error)
        }
    }

    private func nextBytes() async throws -> Data? {
        switch state {
        case .finished: return nil
        case .open(let read): return try await read()
        case .idle:
            let read = try await connection.stream(path, query: query)
            state = .open(read)
            return try await read()
        }
    }
}
