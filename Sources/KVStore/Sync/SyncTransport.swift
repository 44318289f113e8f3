/// How a replica reaches its daemon. `KVStoreHTTP` has the one for the network.
///
/// Any call may fail at any time and may have taken effect nevertheless; a replica repeats it.
/// A transport does not retry and keeps no state about stores: back-off is the replica's.
public protocol SyncTransport: Sendable {
    /// One round trip. Returns only what the daemon has made durable.
    func sync(
        _ request: SyncRequest, store: String
    ) async throws(SyncTransportError) -> SyncResponse

    /// The live stream of a store after `since`. It ends by throwing, or by finishing when the
    /// daemon closes it; the replica then syncs and subscribes again. Cancelling the consuming
    /// task closes the connection.
    func events(
        store: String, since: UInt64, epoch: String
    ) -> AsyncThrowingStream<SyncEvent, any Error>
}

/// What the live stream says.
public enum SyncEvent: Sendable, Equatable {
    /// The stream is established; nothing newer than `since` was waiting.
    case opened
    /// A change with its sequence number, in order.
    case change(SyncChange)
    /// The history between `since` and now is gone, or the epoch is another: sync from the start.
    case reset
    /// The connection is alive.
    case heartbeat
}

/// Why a round trip gave no answer.
public enum SyncTransportError: Error, Sendable, Equatable {
    /// No connection, or it broke: offline, refused, timed out. The text says which address and why.
    case unreachable(String)
    /// The daemon refused the token.
    case unauthorized(String)
    /// The daemon asks to wait.
    case busy(retryAfterSeconds: Double?)
    /// The daemon answered with an error: its status, stable code and text.
    case refused(status: Int, code: String, message: String)
    /// The answer is not what the protocol says.
    case malformed(String)
}

extension SyncTransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let text): text
        case .unauthorized(let text): "the daemon refused the token: \(text)"
        case .busy(let seconds):
            "the daemon is busy"
                + (seconds.map { "; it asks to wait \(Int($0.rounded(.up))) s" } ?? "")
        case .refused(let status, let code, let message):
            "the daemon answered \(status) (\(code)): \(message)"
        case .malformed(let text): "the daemon's answer is not understood: \(text)"
        }
    }
}
