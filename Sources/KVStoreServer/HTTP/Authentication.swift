import Hummingbird
import KVStoreLog
import KVStoreWire

/// Sets the device of requests with a valid token and rejects all others.
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
    fileprivate func authenticate(
        authorization: String?, address: String
    ) throws(Problem) -> Device {
        let now = System.monotonicMilliseconds()
        if let token = authorization.flatMap(DeviceToken.init(authorization:)),
            let device = devices.authenticate(token.digest, now: engine.options.now())
        {
            if let wait = requestRates.take(device.id, now: now) {
                throw .tooManyRequests(
                    waitMilliseconds: wait, perSecond: Int(limits.requestsPerSecond))
            }
            return device
        }
        metrics.count { $0.failedAuthentications += 1 }
        if let wait = failureRates.take(address, now: now) {
            throw .tooManyFailures(
                waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
        }
        throw .unauthorized
    }
}
