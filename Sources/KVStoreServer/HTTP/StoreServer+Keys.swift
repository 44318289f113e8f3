import Essentials
import KVStoreCore
import KVStoreWire
import NIOCore

/// Single keys, for users and scripts. Replicas sync instead. What reads or writes runs in the body of `perform`.
extension StoreServer {
    func listKeys(_ store: StoreID) throws(Problem) -> [SequencedRecord] {
        guard let values = try engine.values(in: store) else { throw .unknownStore }
        return values
    }

    func getKey(_ key: StoreKey, _ store: StoreID) throws(Problem) -> SequencedRecord {
        guard let entry = try engine.value(of: key, in: store) else { throw .unknownKey }
        return entry
    }

    func write(
        _ content: Record.Content, _ key: StoreKey, _ store: StoreID, by device: Device
    ) throws(Problem) -> SequencedRecord {
        guard let interceptor else {
            return try engine.write(content, forKey: key, store: store, replica: replica)
        }
        return try interceptor.write(content, key, store, by: device)
    }

    /// The record as JSON, or the value's bytes if the request accepts them.
    static func answer(to request: Request, with entry: SequencedRecord) -> Answer {
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

    /// The value in the body of a request.
    func content(of request: Request) throws(Problem) -> Record.Content {
        switch request.fields.mediaType {
        case MediaType.bytes: return .value(request.body.withUnsafeReadableBytes { Data($0) })
        case MediaType.json:
            let document: ValueDocument = try decode(request.body, depthLimit: limits.jsonDepth)
            return .value(document.value)
        default: throw .mediaType("\(MediaType.bytes) or \(MediaType.json)")
        }
    }
}
