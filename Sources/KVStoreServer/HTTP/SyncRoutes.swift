import Foundation
import HTTPTypes
import Hummingbird
import KVStore
import NIOCore

/// Replication: push and pull, and the live stream.
struct SyncRoutes: Sendable {
    let server: StoreServer

    func sync(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let device = try context.caller(.read)
        let store = try server.store(context.parameters.get("store"), of: device)
        let body = try await request.wholeBody(server.limits)
        let message = try WireJSON.decode(SyncRequest.self, from: body, limits: server.limits)
        guard ReplicaID(message.replica) != nil else {
            throw Problem.malformed("replica is not sixteen lower-case hexadecimal digits")
        }
        if !message.changes.isEmpty { _ = try context.caller(.write) }
        guard message.changes.count <= server.limits.changesPerRequest else {
            throw Problem.tooManyChanges(limit: server.limits.changesPerRequest)
        }
        return .json(try await server.keeper.sync(message, store: store))
    }

    /// Server-sent events from `Last-Event-ID`, else `since`, else the start.
    func changes(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let device = try context.caller(.read)
        let store = try server.store(context.parameters.get("store"), of: device)
        let query = request.uri.queryParameters
        let text = request.headers[.lastEventID] ?? query["since"].map { String($0) } ?? "0"
        guard let since = UInt64(text) else {
            throw Problem.malformed("since is not a number")
        }
        guard let summary = try await server.keeper.summary(of: store) else {
            throw Problem.unknownStore
        }
        guard server.devices.openStream(device.id, limit: server.limits.streamsPerDevice) else {
            throw Problem.tooManyStreams(limit: server.limits.streamsPerDevice)
        }
        let stream = EventStream(
            server: server, device: device, store: store,
            epoch: query["epoch"].map { String($0) } ?? summary.epoch, since: since,
            slot: StreamSlot(server: server, deviceID: device.id))
        return Response(
            status: .ok,
            headers: [
                .contentType: MediaTypes.eventStream, .cacheControl: "no-store",
                .accelBuffering: "no",
            ],
            body: ResponseBody { writer in
                try await stream.run(request.body, writer: &writer)
            })
    }
}

/// A device's place for a live stream, given back with the last reference, whether the stream ever
/// ran or not.
final class StreamSlot: Sendable {
    private let server: StoreServer
    private let deviceID: String

    init(server: StoreServer, deviceID: String) {
        self.server = server
        self.deviceID = deviceID
    }

    deinit { server.devices.closeStream(deviceID, now: server.keeper.options.now()) }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// Asks reverse proxies not to hold events back.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
