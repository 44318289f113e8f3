import Essentials
import KVStoreCore
import KVStoreWire
import NIOCore

/// Stores and single keys, for users and scripts. Replicas sync instead.
extension Exchange {
    static func listStores(_ exchange: Exchange) throws(Problem) {
        exchange.engine.stores(
            ofAccount: exchange.caller.account, on: exchange.loop,
            exchange.answering { stores in
                .json(StoreList(stores: stores.filter { exchange.caller.maySee(store: $0.store) }))
            })
    }

    static func removeStore(_ exchange: Exchange) throws(Problem) {
        let store = try exchange.store
        exchange.engine.remove(store, on: exchange.loop, exchange.answering { .json(StoreRemoval(store: store.name)) })
    }

    static func listKeys(_ exchange: Exchange) throws(Problem) {
        let store = try exchange.store
        exchange.engine.values(
            in: store, where: { _ in true }, on: exchange.loop,
            exchange.answering { values throws(Problem) in
                guard let values else { throw .unknownStore }
                return .json(KeyList(store: store.name, entries: values))
            })
    }

    static func writeKey(_ exchange: Exchange) throws(Problem) {
        let (key, store) = (try exchange.key, try exchange.store)
        try exchange.readContent { content in
            exchange.attempt { () throws(Problem) in
                exchange.write(try content.get(), key, store, exchange.answering { .json(KeySummary($0)) })
            }
        }
    }

    static func removeKey(_ exchange: Exchange) throws(Problem) {
        exchange.write(.tombstone, try exchange.key, try exchange.store, exchange.answering { .json($0) })
    }

    private func write(
        _ content: StoreRecord.Content, _ key: StoreKey, _ store: StoreID,
        _ complete: @escaping Completion<SequencedRecord>
    ) {
        let precondition = Precondition(match: request.fields.ifMatch, noneMatch: request.fields.ifNoneMatch)
        engine.write(
            content, forKey: key, store: store, if: precondition, by: caller, replica: server.replica, on: loop,
            complete)
    }

    static func readKey(_ exchange: Exchange) throws(Problem) {
        exchange.engine.value(of: try exchange.key, in: try exchange.store, on: exchange.loop) { result in
            exchange.finish(result) { entry throws(Problem) in
                guard let entry else { throw .unknownKey }
                if let tags = exchange.request.fields.ifNoneMatch,
                    EntityTag.list(tags, contains: entry.record.stamp.entityTag)
                {
                    return exchange.answer(.notModified(), showing: entry)
                }
                let accept = exchange.request.fields.accept
                if accept?.contains(MediaType.typedValue) == true { return exchange.answerTyped(entry) }
                exchange.answer(
                    accept?.contains(MediaType.bytes) == true ? Self.bytes(of: entry) : .json(entry), showing: entry)
            }
        }
    }

    private func answer(_ answer: Answer, showing entry: SequencedRecord) {
        var answer = answer
        answer.stamp = entry.record.stamp
        self.answer(answer)
    }

    private static func bytes(of entry: SequencedRecord) -> Answer {
        guard case .value(let data) = entry.record.content else { return .json(entry) }
        var answer = Answer(MediaType.bytes, ByteBuffer(bytes: data))
        answer.fields = [
            ("Ubiquity-Stamp", entry.record.stamp.description),
            ("Ubiquity-Sequence", "\(entry.sequence)"),
        ]
        return answer
    }

    /// Answers with the record as JSON with a typed value.
    private func answerTyped(_ entry: SequencedRecord) {
        // Few bytes may refer to the same objects so often that their types take long.
        server.entry.convert(
            for: request, by: server, on: loop,
            { () throws(Problem) in
                guard let record = TypedRecord(entry) else { throw .tooComplex }
                var answer = Answer(MediaType.typedValue, ByteBuffer(bytes: WireJSON.encode(record)))
                answer.stamp = entry.record.stamp
                guard answer.byteCount <= WireLimits.requestByteCount else { throw .tooComplex }
                return answer
            }, { self.finish($0.map { .answer($0) }) })
    }

    /// Completes with the value in the body of the request.
    private func readContent(_ complete: @escaping Completion<StoreRecord.Content>) throws(Problem) {
        let body = request.body
        switch request.fields.mediaType {
        case MediaType.bytes:
            complete(.success(.value(body.withUnsafeReadableBytes { Data($0) })))
        case MediaType.json:
            let document: ValueDocument = try decode()
            complete(.success(.value(document.value)))
        case MediaType.typedValue:
            server.convert(
                for: request, isLong: body.readableBytes > 4_096, on: loop,
                { () throws(Problem) in
                    let value: StoredValue = try StoreServer.decode(body, depthLimit: StoredValue.jsonDepth)
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
        let list = try? PropertyListValue(encoded: data)  // other bytes are shown as data
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
        406, "too-complex", "Value too complex", detail: "the value with its types would be too long",
        limit: WireLimits.requestByteCount, hint: "get the bytes with Accept: \(MediaType.bytes)")
}
