package import KVStoreWire
package import NIOHTTP1

/// Where requests enter a server. The defaults are what a daemon does; another entry does something before or after.
/// All methods are called on the event loop of the connection, and must not block.
package protocol RequestEntry: Sendable {
    /// What a request names; nil for nothing.
    ///
    /// - Throws: if the request may not be answered, whatever it names.
    func resource(
        of head: HTTPRequestHead, _ fields: RequestFields, in server: StoreServer
    ) throws(Problem) -> Resource?

    /// The device that the value of an `Authorization` field names.
    func device(authorization: String, in server: StoreServer) throws(Problem) -> FoundDevice

    /// Whether the device has the permissions that it had when the head of its request was read.
    func isCurrent(_ device: Device, in server: StoreServer) -> Bool

    /// Responds to a request that has been read: at once, later, or as often as it likes. Calls `complete` at most
    /// once.
    func receive(
        _ request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping Completion<Response>)

    /// Completes with what `body`, which takes long, decodes or encodes for a request.
    func convert<Value: Sendable>(
        for request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ body: @escaping @Sendable () throws(Problem) -> Value, _ complete: @escaping Completion<Value>)

    /// Header fields of every answer to a request.
    func fields(ofAnswerTo head: HTTPRequestHead) -> [(name: String, value: String)]

    /// The server stops: completes the requests that wait.
    func stop()
}

extension RequestEntry {
    package func resource(
        of head: HTTPRequestHead, _ fields: RequestFields, in server: StoreServer
    ) throws(Problem) -> Resource? {
        if fields.hasForeignOrigin { throw .foreignOrigin }
        return server.resource(at: head.path)
    }

    package func device(authorization: String, in server: StoreServer) throws(Problem) -> FoundDevice {
        guard let token = DeviceToken(authorization: authorization) else { return .unknown }
        let found = server.devices.find(token.digest, now: server.engine.clock())
        // A page of an earlier version has all of its token in the cookie, which every server of the host may have got.
        if case .device(let device) = found, device.isPage, token.kind != .page { return .unknown }
        return found
    }

    package func isCurrent(_ device: Device, in server: StoreServer) -> Bool { server.devices.isCurrent(device) }

    package func receive(
        _ request: Request, by server: StoreServer, on loop: WatcherRegistry, _ complete: @escaping Completion<Response>
    ) {
        server.respond(to: request, on: loop, complete)
    }

    package func convert<Value: Sendable>(
        for request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ body: @escaping @Sendable () throws(Problem) -> Value, _ complete: @escaping Completion<Value>
    ) {
        server.convertElsewhere(for: request, on: loop, body, complete)
    }

    package func fields(ofAnswerTo head: HTTPRequestHead) -> [(name: String, value: String)] { [] }

    package func stop() {}
}

/// The entry of a daemon.
struct DirectEntry: RequestEntry {}
