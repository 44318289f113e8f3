public import KVStoreCore

/// How a replica reaches its daemon. `KVStoreHTTP` has the one for the network.
///
/// Any call may fail at any time and may have taken effect nevertheless; a replica repeats it. A transport does not
/// retry and keeps no state about stores: back-off is the replica's.
public protocol SyncTransport: Sendable {
    /// One round trip. Returns only what the daemon has made durable. Ends promptly when the calling task is
    /// cancelled.
    func sync(_ request: SyncRequest, store: String) async throws(SyncTransportError) -> SyncResponse

    /// The live stream of a store from a cursor on. It ends by throwing, or by finishing when the daemon closes it;
    /// the replica then syncs and opens another one. Cancelling the consuming task closes the connection.
    func events(store: String, since: Cursor) -> AsyncThrowingStream<SyncEvent, any Error>
}
