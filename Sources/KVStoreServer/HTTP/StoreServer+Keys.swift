import Essentials
import KVStoreCore
import KVStoreWire
import NIOCore

/// Single keys, for users and scripts. Replicas sync instead.
extension StoreServer {
    func listKeys(_ store: StoreID) throws(Problem) -> Answer {
        guard let values = try engine.values(in: store) else { throw .unknownStore }
        return .json(KeyList(store: store.name, entries: values))
    }

    /// The record as JSON, or the value's bytes if the request accepts them.
    func getKey(
        _ request: Request, _ key: StoreKey, _ store: StoreID
    ) throws(Problem) -> Answer {
        guard let entry = try engine.value(of: key, in: store) else { throw .unknownKey }
        guard request.fields.accept?.contains(MediaType.bytes) == true,
            case .value(let data) = entry.record.content
        else { return .json(entry) }
        var answer = Answer(MediaType.bytes, ByteBuffer(bytes: data))
        answer.fields = [
            ("Ubiquity-Stamp", entry.record.stamp.description),
            ("Ubiquity-Sequence", "\(entry.sequence)"),
        ]
        return answer
    }

    func putKey(
        _ request: Request, _ key: StoreKey, _ store: StoreID
    ) throws(Problem) -> Answer {
        let value: Data
        switch request.fields.mediaType {
        case MediaType.bytes: value = request.body.withUnsafeReadableBytes { Data($0) }
        case MediaType.json:
            let document: ValueDocument = try decode(request.body, depthLimit: limits.jsonDepth)
            value = document.value
        default: throw .mediaType("\(MediaType.bytes) or \(MediaType.json)")
        }
        return .json(
            KeySummary(
                try engine.write(.value(value), forKey: key, store: store, replica: replica)))
    }

    func deleteKey(_ key: StoreKey, _ store: StoreID) throws(Problem) -> Answer {
        .json(try engine.write(.tombstone, forKey: key, store: store, replica: replica))
    }
}
