import Dispatch
import Essentials
import KVStoreCore
import KVStoreLedger
package import KVStoreWire
package import NIOCore

/// Replication: push and pull, and the live stream.
extension StoreServer {
    /// The message, if the device may send it.
    func checked(_ message: SyncRequest, _ request: Request) throws(Problem) -> SyncRequest {
        let device = try request.caller(.read)
        guard device.scopes.contains(.write) || message.changes.isEmpty else {
            throw .missing(.write)
        }
        guard message.changes.count <= limits.changesPerRequest else {
            throw .tooManyChanges(limit: limits.changesPerRequest)
        }
        return message
    }

    /// In the binary form if the request accepts it, otherwise JSON; with the device's name, which it learns so.
    static func answer(to request: Request, with response: SyncResponse) -> Answer {
        var answer =
            request.fields.accept?.contains(MediaType.sync) == true
            ? Answer(MediaType.sync, ByteBuffer(bytes: WireBinary.encode(response)))
            : Answer.json(response)
        if let name = request.device?.name {
            answer.fields.append((DeviceList.nameField, PercentEncoding.encode(name)))
        }
        return answer
    }

    /// Server-sent events after `Last-Event-ID`, otherwise `since`, otherwise 0; without values if the query says so.
    func openStream(
        _ request: Request, _ store: StoreID, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let device = try request.caller(.read)
        let since =
            request.fields.lastEventID
            ?? request.parameter("since").map { String($0) } ?? "0"
        guard let sequence = UInt64(since) else {
            throw .malformed("since is not a sequence number")
        }
        let given = request.parameter("epoch").map { EpochID(String($0)) }
        if case .some(.none) = given {
            throw .malformed("epoch is not 16 lower-case hexadecimal digits")
        }
        let values = request.parameter("values") ?? "true"
        guard values == "true" || values == "false" else {
            throw .malformed("values is neither true nor false")
        }
        engine.end(of: store, on: loop) { [self] end in
            complete(
                Result { () throws(Problem) in
                    let end = try end.get()
                    let epoch = (given ?? nil) ?? end.epoch
                    return .stream(
                        EventStream(
                            device: device, store: store,
                            start: Cursor(epoch: epoch, sequence: sequence),
                            hasValues: values == "true", slot: try openSlot(of: device)))
                })
        }
    }

    private func openSlot(of device: Device) throws(Problem) -> StreamSlot {
        let limit = device.isTrusted ? .max : limits.streamsPerDevice
        let slot = devices.openStream(device.id, limit: limit, now: engine.clock)
        guard let slot else { throw .tooManyStreams(limit: limit) }
        return slot
    }

    /// Decodes binary and short JSON at once, long JSON on another thread: it would hold up all connections.
    func decode(
        _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<SyncRequest, Problem>) -> Void
    ) {
        let body = request.body
        switch request.fields.mediaType {
        case MediaType.sync?: return complete(decode(binary: body))
        case MediaType.json?, nil: break
        default:
            return complete(.failure(.mediaType("\(MediaType.sync) or \(MediaType.json)")))
        }
        let depthLimit = limits.jsonDepth
        convert(
            for: request, isLong: body.readableBytes > 32_768, on: loop,
            { () throws(Problem) in try Self.decode(body, depthLimit: depthLimit) }, complete)
    }

    /// Completes on the event loop with what `body` decodes or encodes, on another thread if that is long: it would
    /// hold up all connections.
    func convert<Value: Sendable>(
        for request: Request, isLong: Bool, on loop: any EventLoop,
        _ body: @escaping @Sendable () throws(Problem) -> Value,
        _ complete: @escaping (Result<Value, Problem>) -> Void
    ) {
        guard isLong, interceptor?.decodesInOrder != true else {
            return complete(Result(catching: body))
        }
        let completion = NIOLoopBound(complete, eventLoop: loop)
        let device = interceptor == nil ? request.device : nil
        decodingQueue.async { [devices] in
            let result = Result(catching: body)
            loop.execute {
                // It may have been removed meanwhile.
                let isCurrent = device.map(devices.isCurrent) ?? true
                completion.value(isCurrent ? result : .failure(.unauthorized))
            }
        }
    }

    private func decode(binary body: ByteBuffer) -> Result<SyncRequest, Problem> {
        let limit = limits.changesPerRequest
        return body.withUnsafeReadableBytes { bytes in
            Result { () throws(WireError) in try WireBinary.decode(from: bytes, listLimit: limit) }
        }.mapError(Problem.init)
    }

    func decode<Document: Decodable>(
        _ body: ByteBuffer, depthLimit: Int
    ) throws(Problem) -> Document {
        try Self.decode(body, depthLimit: depthLimit)
    }

    package static func decode<Document: Decodable>(
        _ body: ByteBuffer, depthLimit: Int
    ) throws(Problem) -> Document {
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
