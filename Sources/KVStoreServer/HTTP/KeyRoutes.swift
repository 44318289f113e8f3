import Foundation
import HTTPTypes
import Hummingbird
import KVStore
import NIOCore

/// The keys of a store for people and scripts; replicas use sync.
struct KeyRoutes: Sendable {
    let server: StoreServer

    private struct KeyList: Encodable {
        var store: String
        var keys: [Line]

        struct Line: Encodable {
            var key: String
            var stamp: String
            var seq: UInt64
            var byteCount: Int
        }
    }

    func list(_ context: ServerRequestContext) async throws -> Response {
        let store = try server.store(context.parameters.get("store"), of: context.caller(.read))
        guard let keys = try await server.keeper.keys(in: store) else { throw Problem.unknownStore }
        return .json(
            KeyList(
                store: store.name,
                keys: keys.map { key in
                    KeyList.Line(
                        key: key.record.key, stamp: key.record.stamp.description,
                        seq: key.sequence, byteCount: key.record.content.byteCount)
                }))
    }

    /// As JSON with the value in base64, or the value's bytes alone where the request accepts
    /// those.
    func get(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try server.store(context.parameters.get("store"), of: context.caller(.read))
        let key = try key(context)
        guard let found = try await server.keeper.key(key, in: store) else {
            throw Problem.unknownKey
        }
        guard request.headers[.accept]?.contains(MediaTypes.bytes) == true,
            case .value(let data) = found.record.content
        else { return .json(SyncChange(found.record, seq: found.sequence)) }
        return Response(
            status: .ok,
            headers: [
                .contentType: MediaTypes.bytes,
                .stamp: found.record.stamp.description, .sequence: String(found.sequence),
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }

    private struct Value: Decodable {
        var value: Data
    }

    func put(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try server.store(context.parameters.get("store"), of: context.caller(.write))
        let key = try key(context)
        let type = request.headers[.contentType]?.split(separator: ";").first.map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        guard type == MediaTypes.bytes || type == MediaTypes.json else {
            throw Problem.mediaType("\(MediaTypes.bytes) or \(MediaTypes.json)")
        }
        let body = try await request.wholeBody(server.limits)
        let value =
            type == MediaTypes.json
            ? try WireJSON.decode(Value.self, from: body, limits: server.limits).value
            : Data(body.readableBytesView)
        return try await write(.value(value), forKey: key, store: store)
    }

    func delete(_ context: ServerRequestContext) async throws -> Response {
        let store = try server.store(context.parameters.get("store"), of: context.caller(.write))
        let key = try key(context)
        guard try await server.keeper.key(key, in: store) != nil else { throw Problem.unknownKey }
        return try await write(.tombstone, forKey: key, store: store)
    }

    private struct Written: Encodable {
        var key: String
        var stamp: String
        var seq: UInt64
        var deleted: Bool?
    }

    private func write(
        _ content: Record.Content, forKey key: String, store: StoreID
    ) async throws -> Response {
        let outcome = try await server.keeper.write(
            content, forKey: key, store: store, replica: server.replica)
        switch outcome {
        case .failure(let refusal): throw Problem(refusal)
        case .success(let stored):
            return .json(
                Written(
                    key: key, stamp: stored.record.stamp.description, seq: stored.sequence,
                    deleted: content == .tombstone ? true : nil))
        }
    }

    private func key(_ context: ServerRequestContext) throws(Problem) -> String {
        guard let key = context.parameters.get("key").flatMap({ PercentEncoding.decode($0) }),
            !key.isEmpty,
            KeyProfile.standard.length(of: key) <= KeyProfile.standard.limit
        else { throw .badKey }
        return key
    }
}

enum MediaTypes {
    static let json = "application/json"
    /// A value as it is: a binary property list.
    static let bytes = "application/octet-stream"
    static let eventStream = "text/event-stream"
}

extension HTTPField.Name {
    static let stamp = HTTPField.Name("Ubiquity-Stamp")!
    static let sequence = HTTPField.Name("Ubiquity-Sequence")!
}
