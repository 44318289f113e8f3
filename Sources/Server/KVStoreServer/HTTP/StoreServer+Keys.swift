import Essentials
import KVStoreCore
import KVStoreWire
import NIOCore

/// Single keys, for users and scripts. Replicas sync instead.
extension StoreServer {
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

    /// Completes with the record as JSON with a typed value.
    func answerTyped(
        to request: Request, with entry: SequencedRecord, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) {
        // Few bytes may refer to the same objects so often that their types take long.
        convert(
            for: request, isLong: true, on: loop,
            { () throws(Problem) in
                guard let record = TypedRecord(entry) else { throw .tooComplex }
                let answer = Answer(MediaType.typedValue, ByteBuffer(bytes: WireJSON.encode(record)))
                guard answer.byteCount <= WireLimits.requestByteCount else { throw .tooComplex }
                return answer
            }, { complete($0.map { .answer($0) }) })
    }

    /// Completes with the value in the body of a request.
    func content(
        of request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Record.Content, Problem>) -> Void
    ) throws(Problem) {
        let body = request.body
        switch request.fields.mediaType {
        case MediaType.bytes:
            complete(.success(.value(body.withUnsafeReadableBytes { Data($0) })))
        case MediaType.json:
            let document: ValueDocument = try decode(body, depthLimit: limits.jsonDepth)
            complete(.success(.value(document.value)))
        case MediaType.typedValue:
            convert(
                for: request, isLong: body.readableBytes > 4_096, on: loop,
                { () throws(Problem) in
                    let value: StoredValue = try Self.decode(body, depthLimit: StoredValue.jsonDepth)
                    return .value(value.data)
                }, complete)
        default:
            throw .mediaType("\(MediaType.bytes), \(MediaType.json) or \(MediaType.typedValue)")
        }
    }
}

/// A record whose value has its type.
private struct TypedRecord: Encodable {
    /// Beyond, the form takes many times the memory of the value.
    private static let objectCountLimit = 16_384

    private var entry: SequencedRecord
    private var value: any Encodable

    /// Nil if the value has too many elements.
    init?(_ entry: SequencedRecord) {
        guard case .value(let data) = entry.record.content else { return nil }
        let list = try? PropertyListValue(encoded: data)
        guard list.map({ $0.objectCount <= Self.objectCountLimit }) ?? true else { return nil }
        self.entry = entry
        value = list.map { TypedValue($0) as any Encodable } ?? StoredValue(data)
    }

    private enum CodingKeys: CodingKey { case key, seq, stamp }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entry.record.key, forKey: .key)
        try container.encode(entry.sequence, forKey: .seq)
        try container.encode(entry.record.stamp, forKey: .stamp)
    }
}

extension Problem {
    fileprivate static let tooComplex = Problem(
        406, "too-complex", "Value too complex",
        detail: "the value with its types would be too long", limit: WireLimits.requestByteCount,
        hint: "get the bytes with Accept: \(MediaType.bytes)")
}
