import HTTPTypes
import Hummingbird

/// A method of a resource, with its handler.
struct Route: Sendable {
    typealias Handler =
        @Sendable (StoreServer) -> (Request, ServerRequestContext) async throws -> Response

    let method: HTTPRequest.Method
    let path: String
    let handler: Handler

    /// All routes of the server. Those below `/v1` require a token.
    static let all = [
        Route(.get, "healthz", StoreServer.liveness),
        Route(.get, "readyz", StoreServer.readiness),
        Route(.get, "metrics", StoreServer.metrics),
        Route(.get, "v1/me", StoreServer.identity),
        Route(.get, "v1/devices", StoreServer.listDevices),
        Route(.get, "v1/stores", StoreServer.listStores),
        Route(.post, "v1/stores/:store/sync", StoreServer.sync),
        Route(.get, "v1/stores/:store/changes", StoreServer.streamChanges),
        Route(.get, "v1/stores/:store/keys", StoreServer.listKeys),
        Route(.get, "v1/stores/:store/keys/:key", StoreServer.getKey),
        Route(.put, "v1/stores/:store/keys/:key", StoreServer.putKey),
        Route(.delete, "v1/stores/:store/keys/:key", StoreServer.deleteKey),
    ]

    init(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }

    var needsToken: Bool { path.hasPrefix("v1/") }
}

extension StoreServer {
    func router(_ routes: [Route]) -> Router<ServerRequestContext> {
        let router = Router(context: ServerRequestContext.self)
        router.add(middleware: ProblemMiddleware(limits: limits))
        let authenticated = router.group().add(middleware: AuthenticationMiddleware(server: self))
        for route in routes {
            let group = route.needsToken ? authenticated : router.group()
            group.on(RouterPath(route.path), method: route.method) { request, context in
                try await route.handler(self)(request, context)
            }
        }
        return router
    }
}
