package import KVStoreCore
package import KVStoreWire

/// Takes part in all requests of a server: says who sends them, adds resources, schedules the answers and decides about
/// writes. A daemon has none.
///
/// A server with an interceptor has one event loop. All methods are called on it and must not block; those that read or
/// write stores are called within `LogEngine.perform`.
package protocol RequestInterceptor: AnyObject, ResourceProvider {
    /// Whether pages of this origin, as a browser names it, may use the server.
    func allows(origin: String) -> Bool

    /// Throws if no request with these header fields may be answered.
    func admit(_ fields: RequestFields) throws(Problem)

    /// The device that the value of the `Authorization` field names. It keeps its permissions until the request is
    /// answered: they are not checked again when the body has arrived.
    func device(authorization: String) throws(Problem) -> Device

    /// Whether long bodies are decoded on the event loop too, so that requests are applied in the order of arrival.
    var decodesInOrder: Bool { get }

    /// Responds to a request that has been read, by itself or with `StoreServer.respond`: at once, later, or as often
    /// as it likes. Calls `complete` at most once.
    func receive(
        _ request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void)

    /// Takes the place of `LogEngine.sync`.
    func sync(
        _ message: SyncRequest, store: StoreID, mayCreate: Bool, by device: Device
    ) throws(Problem) -> SyncResponse

    /// Takes the place of `LogEngine.write`.
    func write(
        _ content: Record.Content, _ key: StoreKey, _ store: StoreID, by device: Device
    ) throws(Problem) -> SequencedRecord

    /// A device has removed a store.
    func didRemove(_ store: StoreID)

    /// The server stops: completes the requests that wait.
    func stop()
}
