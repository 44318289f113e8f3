import Foundation
import HTTPTypes
import Hummingbird
import KVStoreCore
import KVStoreWire

/// Single keys, for users and scripts. Replicas sync instead.
struct KeyRoutes: Sendable {
    let server: StoreServer

    func list(_ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.read)
        guard let values = try await server.engine.values(in: store) else {
            throw Problem.unknownStore
        }
        return .json(KeyList(store: store.name, entries: values))
    }

    /// The record as JSON, or the value's bytes if the request accepts them.
    func get(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.read)
        guard let entry = try await server.engine.value(of: context.key(), in: store) else {
            throw Problem.unknownKey
        }
        guard request.headers[.accept]?.contains(MediaType.bytes) == true,
            case .value(let data) = entry.record.content
        else { return .json(entry) }
        var response = Response(.ok, MediaType.bytes, data)
        response.headers[.stamp] = entry.record.stamp.description
        response.headers[.sequence] = String(entry.sequence)
        return response
    }

    func put(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.write)
        let key = try context.key()
        let type = request.headers[.contentType]?.split(separator: ";").first.map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        let value: Data
        switch type {
        case MediaType.bytes: value = try await request.bytes(server.limits)
        case MediaType.json:
            let document: ValueDocument = try await request.document(server.limits)
            value = document.value
        default: throw Problem.mediaType("\(MediaType.bytes) or \(MediaType.json)")
        }
        return .json(
            KeySummary(
                try await server.engine.write(
                    .value(value), forKey: key, store: store, replica: server.replica)))
    }

    func delete(_ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.write)
        return .json(
            try await server.engine.write(
                .tombstone, forKey: context.key(), store: store, replica: server.replica))
    }
}

extension HTTPField.Name {
    static let stamp = HTTPField.Name("Ubiquity-Stamp")!
    static let sequence = HTTPField.Name("Ubiquity-Sequence")!
}
