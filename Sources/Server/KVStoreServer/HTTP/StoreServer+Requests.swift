import KVStoreCore
import KVStoreLog
package import KVStoreWire
import Logging
import NIOCore
import NIOHTTP1

/// Who a connection's last request came from.
struct Identity {
    /// The value of the Authorization field.
    var authorization: String
    var device: Device
    /// Of the device table that the token was looked up in.
    var generation: UInt64
}

/// What a route gives.
package enum Response {
    case answer(Answer)
    case stream(any LiveStream)
    /// Closes the connection without an answer.
    case disconnection
}

/// From a request's head to its answer. On the event loop only.
extension StoreServer {
    /// Checks everything that the head tells, before any of the body is read. Returns nil if the connection looks up
    /// the device first; then it is to be called again.
    func admit(
        _ head: HTTPRequestHead, _ fields: RequestFields, on connection: Connection
    ) throws(Problem) -> Request? {
        if fields.hasUnknownFraming {
            throw .malformed("the only transfer coding of a request is chunked")
        }
        if fields.hasSeveralHosts { throw .malformed("a request has one Host header") }
        let isAllowedOrigin = fields.origin.map { interceptor?.allows(origin: $0) == true } ?? false
        if fields.hasForeignOrigin, !isAllowedOrigin { throw .foreignOrigin }
        try interceptor?.admit(fields)
        if connection.isSurplus, fields.authorization.isEmpty {
            throw .tooManyConnections(limit: limits.connectionCount)
        }
        if let encoding = fields.contentEncoding, encoding.lowercased() != "identity" {
            throw .contentEncoding
        }
        if !head.method.hasRequestBody, fields.hasBody { throw .unexpectedBody }
        let uri = head.uri[...]
        let path = head.path
        let isPreflight = isAllowedOrigin && head.method == .OPTIONS
        let found = isPreflight ? Resource.additional(Preflight()) : resource(at: path)
        let bodyLimit = bodyByteLimit(of: found)
        if let count = fields.contentLength, count > bodyLimit {
            throw .bodyTooLarge(limit: bodyLimit)
        }
        guard let resource = found else { throw .unknownPath }
        guard resource.methods.contains(head.method) else {
            throw .method(resource.methods.map(\.rawValue).joined(separator: ", "))
        }
        var device: Device?
        if resource.needsToken {
            device = try authenticate(fields.authorization, on: connection)
            if device == nil { return nil }
        }
        if connection.isSurplus { throw .tooManyConnections(limit: limits.connectionCount) }
        switch resource {
        case .session where fields.fetchSite != "same-origin": throw .insecurePage
        case .pairing, .session: try admitPairing(fields, from: connection.address)
        default: break
        }
        return Request(
            method: head.method, fields: fields, target: head.uri, resource: resource,
            query: uri[path.endIndex...].dropFirst(), device: device, address: connection.address)
    }

    private func authenticate(
        _ authorization: String, on connection: Connection
    ) throws(Problem) -> Device? {
        let now = System.monotonicMilliseconds()
        let generation = connection.table.generation(of: devices)
        let device: Device
        if let identity = connection.identity, identity.generation == generation,
            identity.authorization == authorization
        {
            device = identity.device
            devices.noteSeen(device.id, now: engine.clock())
        } else {
            switch try identify(authorization, on: connection) {
            case .device(let found): device = found
            case .unknown:
                // Any page of another site can make a browser send a request without a token, which guesses none.
                guard DeviceToken.kind(ofAuthorization: authorization) != nil else {
                    throw .unauthorized
                }
                throw rejection(from: connection.address, now: now)
            case .undetermined: return nil
            }
            connection.identity = Identity(authorization: authorization, device: device, generation: generation)
        }
        if !device.isTrusted, let wait = requestRates.take(device.id, now: now) {
            throw .tooManyRequests(waitMilliseconds: wait, perSecond: Int(limits.requestsPerSecond))
        }
        guard connection.table.authenticate(connection) else {
            throw .tooManyConnections(limit: limits.connectionCount)
        }
        return device
    }

    /// The device of a token. The connection waits for one that is not in memory.
    private func identify(
        _ authorization: String, on connection: Connection
    ) throws(Problem) -> FoundDevice {
        let now = engine.clock()
        if let interceptor {
            return .device(try interceptor.device(authorization: authorization))
        }
        guard let token = DeviceToken(authorization: authorization) else { return .unknown }
        let found = devices.find(token.digest, now: now)
        switch found {
        // A page of an earlier version has all of its token in the cookie, which every server of the host may have got.
        case .device(let device) where device.isPage && token.kind != .page: return .unknown
        case .undetermined: connection.lookUp(token.digest)
        default: break
        }
        return found
    }

    /// What a path names; nil for nothing.
    package func resource(at path: Substring) -> Resource? {
        Resource(path: path) ?? provider?.resource(at: path).map(Resource.additional)
    }

    /// Bytes that the body of a request may have.
    func bodyByteLimit(of resource: Resource?) -> Int {
        guard case .additional(let resource)? = resource else { return limits.bodyByteCount }
        return resource.bodyByteLimit ?? limits.bodyByteCount
    }

    /// Whether the device still has the permissions that it had when the head of its request was read.
    func isAllowed(_ request: Request, on connection: Connection) -> Bool {
        guard let device = request.device, interceptor == nil else { return true }
        return connection.identity?.generation == connection.table.generation(of: devices) || devices.isCurrent(device)
    }

    /// Counts a failed authentication; returns the problem, or that there were too many.
    func rejection(
        _ problem: Problem = .unauthorized, from address: String, now: Int64
    ) -> Problem {
        metrics.count { $0.failedAuthentications += 1 }
        guard let wait = failureRates.take(address, now: now) else { return problem }
        return .tooManyFailures(waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
    }

    /// Responds to a request that has been read, unless the interceptor does.
    package func receive(
        _ request: Request, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) {
        guard let interceptor else { return respond(to: request, on: loop, complete) }
        interceptor.receive(request, by: self, on: loop, complete)
    }

    /// Completes on the event loop, at once or when the disk has what the answer says.
    package func respond(
        to request: Request, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) {
        /// What completes a request to the engine.
        func answering<Value>(
            _ answer: @escaping (Value) throws(Problem) -> Answer
        ) -> (Result<Value, Problem>) -> Void {
            { [self] result in
                if case .failure(.again) = result {
                    return respond(to: request, on: loop, complete)
                }
                complete(Result { () throws(Problem) in .answer(try answer(try result.get())) })
            }
        }
        do throws(Problem) {
            switch (request.resource, request.method) {
            case (.liveness, _): complete(.success(.answer(.text("ok\n"))))
            case (.readiness, _): complete(.success(.answer(try readiness())))
            case (.metrics, _): complete(.success(.answer(metricsText())))
            case (.authority, _): complete(.success(.answer(try authorityCertificate())))
            case (.authorityProfile, _): complete(.success(.answer(try authorityProfile())))
            case (.pairing, _): try pair(request, isPage: false, on: loop.loop, complete)
            case (.session, _): try pair(request, isPage: true, on: loop.loop, complete)
            case (.identity, .DELETE): try leave(request, on: loop.loop, complete)
            case (.pairings, _): try makePairing(request, on: loop.loop, complete)
            case (.identity, _): complete(.success(.answer(try identity(request))))
            case (.devices, _): try listDevices(request, on: loop.loop, complete)
            case (.device(let id), .DELETE):
                try removeDevice(String(id), request, on: loop.loop, complete)
            case (.device(let id), _):
                try renameDevice(String(id), request, on: loop.loop, complete)
            case (.stores, _):
                let caller = try request.caller(.read)
                engine.stores(
                    ofAccount: caller.account, on: loop,
                    answering { stores in
                        .json(StoreList(stores: stores.filter { caller.maySee(store: $0.store) }))
                    })
            case (.store(let store), _):
                let id = try request.store(store, .write)
                engine.remove(id, on: loop, answering { .json(StoreRemoval(store: id.name)) })
            case (.sync(let store), _):
                let id = try request.store(store, .read)
                decode(request, on: loop.loop) { [self] message in
                    do throws(Problem) {
                        engine.sync(
                            try checked(try message.get(), request), store: id,
                            by: try request.caller(.read), on: loop,
                            answering { Self.answer(to: request, with: $0) })
                    } catch {
                        complete(.failure(error))
                    }
                }
            case (.changes(let store), _):
                try openStream(request, request.store(store, .read), on: loop, complete)
            case (.keys(let store), _):
                let id = try request.store(store, .read)
                engine.values(
                    in: id, where: { _ in true }, on: loop,
                    answering { values throws(Problem) in
                        guard let values else { throw .unknownStore }
                        return .json(KeyList(store: id.name, entries: values))
                    })
            case (.key(let key, let store), .PUT):
                let (key, id) = (try request.key(key), try request.store(store, .write))
                try content(of: request, on: loop.loop) { [self] content in
                    do throws(Problem) {
                        engine.write(
                            try content.get(), forKey: key, store: id,
                            by: try request.caller(.write), replica: replica, on: loop,
                            answering { .json(KeySummary($0)) })
                    } catch {
                        complete(.failure(error))
                    }
                }
            case (.key(let key, let store), .DELETE):
                let (key, id) = (try request.key(key), try request.store(store, .write))
                engine.write(
                    .tombstone, forKey: key, store: id, by: try request.caller(.write),
                    replica: replica, on: loop, answering { .json($0) })
            case (.key(let key, let store), _):
                let (key, id) = (try request.key(key), try request.store(store, .read))
                let isTyped = request.fields.accept?.contains(MediaType.typedValue) == true
                engine.value(of: key, in: id, on: loop) { [self] result in
                    if case .failure(.again) = result {
                        return respond(to: request, on: loop, complete)
                    }
                    do throws(Problem) {
                        guard let entry = try result.get() else { throw .unknownKey }
                        if isTyped {
                            answerTyped(to: request, with: entry, on: loop.loop, complete)
                        } else {
                            complete(.success(.answer(Self.answer(to: request, with: entry))))
                        }
                    } catch {
                        complete(.failure(error))
                    }
                }
            case (.additional(let resource), _):
                try resource.respond(to: request, by: self, on: loop, complete)
            }
        } catch {
            complete(.failure(error))
        }
    }

    /// An error answer, which names the document of the path.
    func answer(_ problem: Problem, to head: HTTPRequestHead?) -> Answer {
        guard let document = head.flatMap({ provider?.document(of: $0.path) }) else {
            return Answer(problem)
        }
        var problem = problem
        problem.hint = problem.hint?.replacing("docs/protocol.md", with: document)
        return Answer(problem)
    }

    /// The header fields with which a page of another origin may read the answer.
    func crossOriginFields(to head: HTTPRequestHead?) -> [(name: String, value: String)] {
        guard let interceptor, let head, let origin = head.headers.first(name: "Origin"),
            interceptor.allows(origin: origin)
        else { return [] }
        return CrossOrigin.fields(origin, isPreflight: head.method == .OPTIONS)
    }

    /// Counts an answer. If only this request has failed, for a reason on the server, logs a warning and gives the
    /// answer the id with which the log names it.
    func note(
        _ answer: inout Answer, of head: HTTPRequestHead?, device: Device?,
        since start: NIODeadline?
    ) {
        note(answer.status, of: head, refusal: answer.problemCode, since: start)
        guard let code = answer.problemCode, Problem.codesOfFailures.contains(code) else { return }
        let id = EpochID(rawValue: .random(in: 1 ... .max)).description
        answer.fields.append(("Ubiquity-Request", id))
        configuration.logger.warning(
            "request failed",
            metadata: [
                "request": "\(id)", "code": "\(code)", "device": "\(device?.id ?? "none")",
                "method": "\(head?.method.rawValue ?? "unknown")",
                "path": "\(template(of: head))",
            ])
    }

    /// Not the path itself, because keys are private.
    private func template(of head: HTTPRequestHead?) -> String {
        head.flatMap { resource(at: $0.path)?.template } ?? "unknown"
    }

    /// - Parameter start: when the head was read; nil for a live stream, which has no end to measure.
    func note(
        _ status: HTTPResponseStatus, of head: HTTPRequestHead?, refusal code: String? = nil,
        since start: NIODeadline?
    ) {
        let time = start.map { NIODeadline.now() - $0 }
        metrics.count {
            $0.answers[min(Int(status.code) / 100, 5)] += 1
            if let time { $0.requestSeconds.observe(Double(time.nanoseconds) / 1e9) }
            if let code { $0.refusals[code, default: 0] += 1 }
        }
        guard configuration.logger.logLevel <= .debug, let head else { return }
        configuration.logger.debug(
            "request",
            metadata: [
                "method": "\(head.method)",
                "path": "\(template(of: head))",
                "status": "\(status.code)",
            ])
    }
}
