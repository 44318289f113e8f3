public import KVStoreCore

/// How a replica reaches its daemon. `KVStoreHTTP` has the one for the network.
///
/// Any call may fail at any time and may have taken effect nevertheless; a replica repeats it. A transport does not
/// retry and keeps no state about stores: back-off is the replica's.
///
/// ```swift
/// /// An account without other devices.
/// struct Nobody: SyncTransport {
///     let epoch = EpochID(rawValue: 1)
///
///     func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse {
///         guard request.changes.isEmpty else { throw .unreachable("nobody keeps them") }
///         let end = SyncCursor(epoch: epoch, sequence: 0)
///         let now = Int64(Date().timeIntervalSince1970 * 1_000)
///         return SyncResponse(cursor: end, serverTime: now, isInitial: request.since == nil, lineage: [end])
///     }
///
///     func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error> {
///         AsyncThrowingStream { $0.yield(.opened) }
///     }
/// }
/// ```
public protocol SyncTransport: Sendable {
    /// One round trip. Returns only what the daemon has made durable. Ends promptly when the calling task is
    /// cancelled.
    func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse

    /// The live stream of a store from a cursor on. It ends by throwing, or by finishing when the daemon closes it;
    /// the replica then syncs and opens another one. Cancelling the consuming task closes the connection.
    func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error>
}
