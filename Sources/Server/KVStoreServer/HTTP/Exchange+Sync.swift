import Dispatch
import Essentials
import KVStoreCore
import KVStoreLedger
package import KVStoreWire
package import NIOCore

/// Replication: push and pull, and the live stream.
extension Exchange {
    static func sync(_ exchange: Exchange) throws(Problem) {
        let store = try exchange.store
        exchange.decodeSync { message in
            exchange.attempt { () throws(Problem) in
                exchange.engine.sync(
                    try exchange.checked(try message.get()), store: store, by: exchange.caller, on: exchange.loop,
                    exchange.answering { exchange.answer(with: $0) })
            }
        }
    }

    /// The message, if the device may send it.
    private func checked(_ message: SyncRequest) throws(Problem) -> SyncRequest {
        guard message.changes.isEmpty || caller.scopes.contains(.write) else { throw .missing(.write) }
        guard message.changes.count <= limits.changesPerRequest else {
            throw .tooManyChanges(limit: limits.changesPerRequest)
        }
        return message
    }

    /// In the binary form if the request accepts it, otherwise JSON; with the device's name, which it learns so.
    private func answer(with response: SyncResponse) -> Answer {
        var answer =
            request.fields.accept?.contains(MediaType.sync) == true
            ? Answer(MediaType.sync, ByteBuffer(bytes: WireBinary.encode(response)))
            : Answer.json(response)
        answer.fields.append((DeviceList.nameField, PercentEncoding.encode(caller.name)))
        return answer
    }

    /// Server-sent events after `Last-Event-ID`, otherwise `since`, otherwise 0; without values if the query says so.
    static func openStream(_ exchange: Exchange) throws(Problem) {
        let (request, store) = (exchange.request, try exchange.store)
        let since = request.fields.lastEventID ?? request.parameter("since").map { String($0) } ?? "0"
        guard let sequence = UInt64(since) else { throw .malformed("since is not a sequence number") }
        let given = request.parameter("epoch").map { EpochID(String($0)) }
        if case .some(.none) = given {
            throw .malformed("epoch is not 16 lower-case hexadecimal digits")
        }
        let values = request.parameter("values") ?? "true"
        guard values == "true" || values == "false" else { throw .malformed("values is neither true nor false") }
        exchange.engine.end(of: store, on: exchange.loop) { end in
            exchange.finish(
                Result { () throws(Problem) in
                    let end = try end.get()
                    let epoch = (given ?? nil) ?? end.epoch
                    return .stream(
                        EventStream(
                            device: exchange.caller, store: store, start: SyncCursor(epoch: epoch, sequence: sequence),
                            hasValues: values == "true", slot: try exchange.openSlot()))
                })
        }
    }

    private func openSlot() throws(Problem) -> StreamSlot {
        let limit = caller.isTrusted ? .max : limits.streamsPerDevice
        let slot = server.devices.openStream(caller.id, limit: limit, now: engine.clock)
        guard let slot else { throw .tooManyStreams(limit: limit) }
        return slot
    }

    /// Decodes binary and short JSON at once, long JSON on another thread: it would hold up all connections.
    private func decodeSync(_ complete: @escaping Completion<SyncRequest>) {
        let body = request.body
        switch request.fields.mediaType {
        case MediaType.sync?:
            let limit = limits.changesPerRequest
            return complete(
                body.withUnsafeReadableBytes { bytes in
                    Result { () throws(WireError) in try WireBinary.decode(from: bytes, listLimit: limit) }
                }.mapError(Problem.init))
        case MediaType.json?, nil: break
        default:
            return complete(.failure(.mediaType("\(MediaType.sync) or \(MediaType.json)")))
        }
        let depthLimit = limits.jsonDepth
        server.convert(
            for: request, isLong: body.readableBytes > 32_768, on: loop,
            { () throws(Problem) in try StoreServer.decode(body, depthLimit: depthLimit) }, complete)
    }
}

extension StoreServer {
    /// Completes on the event loop with what `body` decodes, elsewhere if that is long.
    func convert<Value: Sendable>(
        for request: Request, isLong: Bool, on loop: WatcherRegistry,
        _ body: @escaping @Sendable () throws(Problem) -> Value, _ complete: @escaping Completion<Value>
    ) {
        guard isLong else { return complete(Result(catching: body)) }
        entry.convert(for: request, by: self, on: loop, body, complete)
    }

    /// Completes on the event loop with what `body` decodes or encodes on another thread: it would hold up all
    /// connections.
    package func convertElsewhere<Value: Sendable>(
        for request: Request, on loop: WatcherRegistry, _ body: @escaping @Sendable () throws(Problem) -> Value,
        _ complete: @escaping Completion<Value>
    ) {
        let completion = NIOLoopBound(complete, eventLoop: loop.loop)
        let device = request.device
        decodingQueue.async { [self] in
            let result = Result(catching: body)
            loop.loop.execute { [self] in
                // It may have been removed meanwhile.
                let isCurrent = device.map { entry.isCurrent($0, in: self) } ?? true
                completion.value(isCurrent ? result : .failure(.unauthorized))
            }
        }
    }

    package static func decode<Document: Decodable>(_ body: ByteBuffer, depthLimit: Int) throws(Problem) -> Document {
        do throws(WireError) {
            return try WireJSON.decode(from: Data(body.readableBytesView), depthLimit: depthLimit)
        } catch {
            throw Problem(error)
        }
    }
}

extension Problem {
    fileprivate init(_ error: WireError) {
        switch error {
        case .tooDeep(let limit): self = .tooDeep(limit: limit)
        case .listTooLong(let limit): self = .tooManyChanges(limit: limit)
        // The path of a field has names that the client has chosen.
        default: self = .malformed(error.description.printable(scalarLimit: 200))
        }
    }
}
