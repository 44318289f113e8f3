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
        let now = System.monotonicMilliseconds()
        let token = request.headers[.authorization].flatMap(DeviceToken.init(authorization:))
        guard let token,
            let device = server.devices.authenticate(
                token.digest, now: server.engine.options.now())
        else { throw rejection(from: context.address, now: now) }
        if let wait = server.requestRates.take(device.id, now: now) {
            throw Problem.tooManyRequests(
                waitMilliseconds: wait, perSecond: Int(server.limits.requestsPerSecond))
        }
        var context = context
        context.device = device
        return try await next(request, context)
    }

    private func rejection(from address: String, now: Int64) -> Problem {
        server.metrics.count { $0.failedAuthentications += 1 }
        guard let wait = server.failureRates.take(address, now: now) else { return .unauthorized }
        return .tooManyFailures(
            waitMilliseconds: wait, perMinute: Int(server.limits.failedAuthenticationsPerMinute))
    }
}
