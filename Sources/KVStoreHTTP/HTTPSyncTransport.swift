import Foundation
public import KVStore

/// The way to a daemon over HTTP.
///
/// Holds a pool of connections, which is closed with the last reference or by `close`. Any number of stores
/// may share one transport, and any thread may call it: live streams do not take the connections of requests, and how
/// many of them there may be the daemon says. Nothing here retries, and no error shows the token.
public final class HTTPSyncTransport: SyncTransport {
    private let connection: DaemonConnection

    init(_ connection: DaemonConnection) { self.connection = connection }

    public convenience init(
        address: DaemonAddress, token: AccessToken, timeouts: HTTPTimeouts = .init()
    ) {
        self.init(DaemonConnection(address: address, token: token, timeouts: timeouts))
    }

    public convenience init(_ credentials: Credentials, timeouts: HTTPTimeouts = .init()) {
        self.init(address: credentials.daemon, token: credentials.token, timeouts: timeouts)
    }

    /// Ends every request and stream that is under way; later ones fail.
    public func close() { connection.shutDown() }

    public func sync(
        _ request: SyncRequest, store: String
    ) async throws(SyncTransportError) -> SyncResponse {
        let body: Data
        do {
            body = try JSONEncoder().encode(request)
        } catch {
            throw .malformed("the request cannot be written as JSON: \(error)")
        }
        let answer = try await connection.post(
            body, to: ["stores", store, "sync"],
            answerByteCount: HTTPLimits.answerByteCount)
        do {
            return try JSONDecoder().decode(SyncResponse.self, from: answer)
        } catch {
            throw .malformed("\(connection.address): \(DecodingFailure.words(error))")
        }
    }

    public func events(
        store: String, since: UInt64, epoch: String
    ) -> AsyncThrowingStream<SyncEvent, any Error> {
        let reader = SyncEventReader(connection, store: store, since: since, epoch: epoch)
        // Pulled, not pushed: a slow consumer slows the daemon down instead of filling memory here.
        return AsyncThrowingStream { try await reader.next() }
    }
}
