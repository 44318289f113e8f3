import HTTPTypes
import Hummingbird

/// A method of a resource, with its handler.
struct Route: Sendable {
    typealias Handler =
        @Sendable (StoreServer, Request, ServerRequestContext) async throws -> Response

    let method: HTTPRequest.Method
    let path: String
    let handler: Handler

    /// All routes of the server. Those below `/v1` require a token.
    static let all = [
        Route(.get, "healthz") { server, _, _ in HealthRoutes(server: server).alive() },
        Route(.get, "readyz") { server, _, _ in try HealthRoutes(server: server).ready() },
        Route(.get, "metrics") { server, _, _ in HealthRoutes(server: server).metrics() },
        Route(.get, "v1/me") { server, _, context in
            try AccountRoutes(server: server).me(context)
        },
        Route(.get, "v1/devices") { server, _, context in
            try AccountRoutes(server: server).devices(context)
        },
        Route(.get, "v1/stores") { server, _, context in
            try await AccountRoutes(server: server).stores(context)
        },
        Route(.post, "v1/stores/:store/sync") { try await SyncRoutes(server: $0).sync($1, $2) },
        Route(.get, "v1/stores/:store/changes") {
            try await SyncRoutes(server: $0).changes($1, $2)
        },
        Route(.get, "v1/stores/:store/keys") { server, _, context in
            try await KeyRoutes(server: server).list(context)
        },
        Route(.get, "v1/stores/:store/keys/:key") { try await KeyRoutes(server: $0).get($1, $2) },
        Route(.put, "v1/stores/:store/keys/:key") { try await KeyRoutes(server: $0).put($1, $2) },
        Route(.delete, "v1/stores/:store/keys/:key") { server, _, context in
            try await KeyRoutes(server: server).delete(context)
        },
    ]

    init(_ method: HTTPRequest.Method, _ path: String, handler: @escaping Handler) {
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
                try await route.handler(self, request, context)
            }
        }
        return router
    }
}
