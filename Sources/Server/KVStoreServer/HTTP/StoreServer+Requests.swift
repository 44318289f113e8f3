import KVStoreCore
import KVStoreLog
import KVStoreWire
import Logging
import NIOCore
import NIOHTTP1

/// Who a connection's last request came from.
struct Identity {
    /// The value of the Authorization field.
    var authorization: String
    var device: Device
    /// The generation of the device table that the token was looked up in.
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
        let found = try entry.resource(of: head, fields, in: self)
        if connection.isSurplus, fields.authorization.isEmpty {
            throw .tooManyConnections(limit: limits.connectionCount)
        }
        if let encoding = fields.contentEncoding, encoding.lowercased() != "identity" {
            throw .contentEncoding
        }
        if !head.method.hasRequestBody, fields.hasBody { throw .unexpectedBody }
        let bodyLimit = bodyByteLimit(of: found)
        if let count = fields.contentLength, count > bodyLimit {
            throw .bodyTooLarge(limit: bodyLimit)
        }
        guard let resource = found else { throw .unknownPath }
        guard resource.methods.contains(head.method) else { throw .method(resource.methods) }
        var device: Device?
        if resource.needsToken {
            if fields.lacksCookie { throw .missingCookie }
            device = try authenticate(fields.authorization, on: connection)
            if device == nil { return nil }
        }
        if connection.isSurplus { throw .tooManyConnections(limit: limits.connectionCount) }
        if let route = resource.route, route === Route.pairing || route === Route.session {
            if route === Route.session, fields.fetchSite != "same-origin" { throw .insecurePage }
            try admitPairing(fields, from: connection.address)
        }
        return Request(
            method: head.method, fields: fields, target: head.uri, resource: resource,
            query: head.uri[head.path.endIndex...].dropFirst(), device: device, address: connection.address)
    }

    private func authenticate(_ authorization: String, on connection: Connection) throws(Problem) -> Device? {
        let now = System.monotonicMilliseconds()
        let generation = connection.table.generation(of: devices)
        let device: Device
        if let identity = connection.identity, identity.generation == generation,
            identity.authorization == authorization
        {
            device = identity.device
            devices.markSeen(device.id, now: engine.clock())
        } else {
            switch try entry.device(authorization: authorization, in: self) {
            case .device(let found): device = found
            case .unknown:
                // Any page of another site can make a browser send a request without a token, which guesses none.
                guard DeviceToken.kind(ofAuthorization: authorization) != nil else { throw .unauthorized }
                throw rejection(from: connection.address, now: now)
            case .undetermined:
                if let token = DeviceToken(authorization: authorization) { connection.lookUp(token.digest) }
                return nil
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

    /// What a path names; nil for nothing.
    package func resource(at path: Substring) -> Resource? {
        Resource(path: path) ?? provider?.resource(at: path).map(Resource.additional)
    }

    /// Bytes that the body of a request may have.
    func bodyByteLimit(of resource: Resource?) -> Int { resource?.bodyByteLimit ?? limits.bodyByteCount }

    /// Whether the device still has the permissions that it had when the head of its request was read.
    func isAllowed(_ request: Request, on connection: Connection) -> Bool {
        guard let device = request.device else { return true }
        return connection.identity?.generation == connection.table.generation(of: devices)
            || entry.isCurrent(device, in: self)
    }

    /// Counts a failed authentication; returns the problem, or that there were too many.
    func rejection(_ problem: Problem = .unauthorized, from address: String, now: Int64) -> Problem {
        metrics.count { $0.failedAuthentications += 1 }
        guard let wait = failureRates.take(address, now: now) else { return problem }
        return .tooManyFailures(waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
    }

    /// Completes on the event loop, at once or when the disk has what the answer says.
    package func respond(to request: Request, on loop: WatcherRegistry, _ complete: @escaping Completion<Response>) {
        switch request.resource {
        case .route(let route, _, _): Exchange(self, request, loop, complete).begin(route)
        case .additional(let resource):
            do throws(Problem) { try resource.respond(to: request, by: self, on: loop, complete) } catch {
                complete(.failure(error))
            }
        }
    }

    /// An error answer, which names the document of the path.
    func answer(_ problem: Problem, to head: HTTPRequestHead?) -> Answer {
        guard let document = head.flatMap({ provider?.document(of: $0.path) }) else { return Answer(problem) }
        var problem = problem
        problem.hint = problem.hint?.replacing("docs/protocol.md", with: document)
        return Answer(problem)
    }

    /// Counts an answer. If only this request has failed, for a reason on the server, logs a warning and gives the
    /// answer the id with which the log names it.
    func record(_ answer: inout Answer, of head: HTTPRequestHead?, device: Device?, since start: NIODeadline?) {
        record(answer.status, of: head, refusal: answer.problemCode, since: start)
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
    func record(
        _ status: HTTPResponseStatus, of head: HTTPRequestHead?, refusal code: String? = nil, since start: NIODeadline?
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
