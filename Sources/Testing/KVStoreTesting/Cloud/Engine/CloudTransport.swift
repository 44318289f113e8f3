import KVStore

/// Names the account that a simulated store syncs with. The messages themselves go through the cloud's agenda,
/// so this is never asked to carry one.
struct CloudTransport: SyncTransport {
    let account: String

    func sync(
        _ request: SyncRequest, store: String
    ) async throws(SyncTransportError) -> SyncResponse { throw Self.misuse }

    func events(store: String, since: SyncCursor) -> AsyncThrowingStream<SyncEvent, any Error> {
        AsyncThrowingStream { $0.finish(throwing: Self.misuse) }
    }

    private static let misuse = SyncTransportError.unreachable(
        "only stores of simulated devices sync through a simulated cloud")
}
