import Foundation
import HTTPTypes
import Hummingbird
import KVStoreCore
import KVStoreWire

/// Single keys, for users and scripts. Replicas sync instead.
extension StoreServer {
    func listKeys(_: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.read)
        guard let values = try await engine.values(in: store) else {
            throw Problem.unknownStore
        }
        return .json(KeyList(store: store.name, entries: values))
    }

    /// The record as JSON, or the value's bytes if the request accepts them.
    func getKey(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.read)
        guard let entry = try await engine.value(of: context.key(), in: store) else {
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

    func putKey(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.write)
        let key = try context.key()
        let type = request.headers[.contentType]?.split(separator: ";").first.map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        let value: Data
        switch type {
        case MediaType.bytes: value = try await request.bytes(limits)
        case MediaType.json:
            let document: ValueDocument = try await request.document(limits)
            value = document.value
        default: throw Problem.mediaType("\(MediaType.bytes) or \(MediaType.json)")
        }
        return .json(
            KeySummary(
                try await engine.write(
                    .value(value), forKey: key, store: store, replica: replica)))
    }

    func deleteKey(_: Request, _ context: ServerRequestContext) async throws -> Response {
        let store = try context.store(.write)
        return .json(
            try await engine.write(
                .tombstone, forKey: context.key(), store: store, replica: replica))
    }
}

extension HTTPField.Name {
    static let stamp = HTTPField.Name("Ubiquity-Stamp")!
    static let sequence = HTTPField.Name("Ubiquity-Sequence")!
}
