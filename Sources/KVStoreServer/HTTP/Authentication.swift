import HTTPTypes
import Hummingbird
import KVStore

/// Everything below it knows its device.
struct AuthenticationMiddleware: RouterMiddleware {
    typealias Context = ServerRequestContext

    let server: StoreServer

    func handle(
        _ request: Request, context: ServerRequestContext,
        next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.device = try server.authenticate(
            authorization: request.headers[.authorization], address: context.address)
        return try await next(request, context)
    }
}

extension StoreServer {
    /// The device that a request speaks for.
    fileprivate func authenticate(
        authorization: String?, address: String
    ) throws(Problem) -> Device {
        let now = DaemonClock.monotonicMilliseconds()
        if let token = Self.token(in: authorization),
            let device = devices.authenticate(token.digest, now: keeper.options.now())
        {
            if let wait = rates.takeRequest(device: device.id, now: now) {
                throw .tooManyRequests(
                    waitMilliseconds: wait, perSecond: Int(limits.requestsPerSecond))
            }
            return device
        }
        metrics.count { $0.failedAuthentications += 1 }
        if let wait = rates.takeFailure(address: address, now: now) {
            throw .tooManyFailures(
                waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
        }
        throw .unauthorized
    }

    private static func token(in authorization: String?) -> DeviceToken? {
        guard let authorization, authorization.utf8.count <= 256,
            authorization.prefix(7).lowercased() == "bearer "
        else { return nil }
        return DeviceToken(presented: authorization.dropFirst(7))
    }

    /// The store of a path, if the name is one and the device may see it.
    func store(_ pathSegment: String?, of device: Device) throws(Problem) -> StoreID {
        guard let name = pathSegment.flatMap({ PercentEncoding.decode($0) }),
            DaemonNames.isValidStore(name)
        else {
            throw .badStoreName
        }
        guard device.mayUse(store: name) else { throw .unknownStore }
        return StoreID(account: device.account, name: name)
    }
}
