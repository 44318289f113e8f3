package import Dispatch
import KVStoreEssentials
import KVStoreLog
import KVStoreWire
import Logging
package import NIOCore

/// Pairing. `POST /v1/pair` is the only request that changes something without a token.
extension StoreServer {
    /// Checks before the body is read that it is short, and that the address has not failed too often: then no code is
    /// looked at.
    func admitPairing(_ fields: RequestFields, from address: String) throws(Problem) {
        guard let count = fields.contentLength, count <= limits.pairingByteCount else {
            throw .bodyTooLarge(limit: limits.pairingByteCount)
        }
        if let wait = failureRates.wait(address, now: System.monotonicMilliseconds()) {
            throw .tooManyFailures(waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
        }
    }
}

extension DispatchQueue {
    /// Runs `body`, which may block, and completes on the event loop that this is called on.
    package func run<Value: Sendable, Failure: Error>(
        completingOn loop: any EventLoop, _ body: @escaping @Sendable () throws(Failure) -> Value,
        _ complete: @escaping (Result<Value, Failure>) -> Void
    ) {
        let completion = NIOLoopBound(complete, eventLoop: loop)
        async {
            let result = Result(catching: body)
            loop.execute { completion.value(result) }
        }
    }
}

extension Exchange {
    static func pairProgram(_ exchange: Exchange) throws(Problem) { try exchange.pair(isPage: false) }

    static func pairPage(_ exchange: Exchange) throws(Problem) { try exchange.pair(isPage: true) }

    /// Completes when the device is durable. A page gets half of its token as a cookie, which its scripts cannot
    /// read, and half for them.
    private func pair(isPage: Bool) throws(Problem) {
        guard let pairings = server.pairings else { throw .unknownPath }
        let (body, depthLimit) = (request.body, limits.jsonDepth)
        server.fileQueue.run(completingOn: loop.loop) { () throws(Problem) in
            let message: PairingRequest = try StoreServer.decode(body, depthLimit: depthLimit)
            return try pairings.pair(message, isPage: isPage)
        } _: { [self] result in
            finish(
                result.map { paired in
                    guard isPage else { return .answer(.json(paired)) }
                    let (cookie, secret) = PageSession.secrets(of: paired.token)
                    var answer = Answer.json(PageSession.Document(secret: String(secret)))
                    answer.fields = PageSession.fields(cookie: cookie)
                    return .answer(answer)
                }.mapError { problem in
                    var problem = problem
                    if problem == .wrongCode {
                        problem = server.rejection(problem, from: request.address, now: System.monotonicMilliseconds())
                    }
                    if isPage {
                        problem.hint = problem.hint?.replacing(Problem.pairAgain, with: Problem.signInAgain)
                    }
                    return problem
                })
        }
    }

    /// A code for a device that may do no more than the caller, and is no administrator.
    static func makePairing(_ exchange: Exchange) throws(Problem) {
        let (server, caller) = (exchange.server, exchange.caller)
        guard let storage = server.devices.storage else { throw .unknownPath }
        try exchange.request.checkJSON()
        let (body, depthLimit) = (exchange.request.body, exchange.limits.jsonDepth)
        server.fileQueue.run(completingOn: exchange.loop.loop) { () throws(Problem) in
            let message: NewPairing = try StoreServer.decode(body, depthLimit: depthLimit)
            return try server.makePairing(message, by: caller, in: storage)
        } _: {
            exchange.answering { .json($0) }($0)
        }
    }
}

extension StoreServer {
    fileprivate func makePairing(
        _ message: NewPairing, by caller: Device, in storage: any DeviceStorage
    ) throws(Problem) -> PairingCodeAnswer {
        guard devices.isCurrent(caller) else { throw .unauthorized }
        if let name = message.name, !Device.isValidName(name) { throw .badDeviceName(name) }
        guard message.stores?.count ?? 0 <= DeviceTable.storeCount else {
            throw .malformed("more than \(DeviceTable.storeCount) stores")
        }
        if let hidden = message.stores?.first(where: { !caller.maySee(store: $0) }) {
            throw StoreConfiguration.isValidStoreName(hidden) ? .unknownStore : .badStoreName
        }
        let permissions = DevicePermissions(
            account: caller.account, isReadOnly: message.readOnly ?? false || !caller.scopes.contains(.write),
            stores: message.stores ?? caller.stores, isPage: message.page ?? false)
        do throws(ServerError) {
            try storage.check(message.name ?? "device", permissions, isRenamed: message.name == nil)
            let code = try storage.addPairing(name: message.name, permissions, maker: caller.id, now: engine.clock())
            configuration.logger.notice("pairing \(code.id) was made by device \(caller.id)")
            return PairingCodeAnswer(code: code.text)
        } catch {
            switch error.code {
            case .invalidDevice, .invalidAccount: throw .deviceRefused(error.message)
            default:
                if let problem = Problem.ofDatabase(error) { throw problem }
                configuration.logger.error("cannot make a pairing code: \(error)")
                throw .pairingFailed
            }
        }
    }
}
