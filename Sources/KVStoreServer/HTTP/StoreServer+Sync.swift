import HTTPTypes
import Hummingbird
import KVStoreCore
import KVStoreWire

/// Replication: push and pull, and the live stream.
extension StoreServer {
    func sync(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.read)
        let message: SyncRequest = try await request.document(limits)
        if !message.changes.isEmpty { _ = try context.caller(.write) }
        guard message.changes.count <= limits.changesPerRequest else {
            throw Problem.tooManyChanges(limit: limits.changesPerRequest)
        }
        return .json(try await engine.sync(message, store: store))
    }

    /// Server-sent events after `Last-Event-ID`, otherwise `since`, otherwise 0.
    func streamChanges(_ request: Request, _ context: ServerRequestContext) async throws -> Response
    {
        let store = try context.store(.read)
        let device = try context.caller(.read)
        let query = request.uri.queryParameters
        let since = request.headers[.lastEventID] ?? query["since"].map { String($0) } ?? "0"
        guard let sequence = UInt64(since) else {
            throw Problem.malformed("since is not a sequence number")
        }
        guard let end = try await engine.end(of: store) else { throw Problem.unknownStore }
        guard let epoch = query["epoch"].map({ EpochID(String($0)) }) ?? end.epoch else {
            throw Problem.malformed("epoch is not 16 lower-case hexadecimal digits")
        }
        let limit = limits.streamsPerDevice
        guard
            let slot = devices.openStream(
                device.id, limit: limit, now: engine.options.now)
        else { throw Problem.tooManyStreams(limit: limit) }
        let stream = EventStream(
            server: self, device: device, store: store,
            start: Cursor(epoch: epoch, sequence: sequence), slot: slot)
        return Response(
            status: .ok,
            headers: [
                .contentType: MediaType.eventStream, .cacheControl: "no-store",
                .accelBuffering: "no",
            ],
            body: ResponseBody { writer in
                try await stream.run(request.body, writer: &writer)
            })
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// Asks reverse proxies not to buffer events.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
