import HTTPTypes
import Hummingbird
import Logging

/// The outermost middleware: turns every error into a problem document and logs every request.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = ServerRequestContext

    let server: StoreServer

    func handle(
        _ request: Request, context: ServerRequestContext,
        next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = DaemonClock.monotonicMilliseconds()
        var response: Response
        do {
            try request.checkBody(server.limits)
            response = try await next(request, context)
        } catch {
            response = Self.problem(error, logger: context.logger).response
        }
        if request.hasUnexpectedBody { response.headers[.connection] = "close" }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        // The template of the path, not the path: keys are nobody's business.
        context.logger.debug(
            "request",
            metadata: [
                "method": "\(request.method)", "path": "\(context.endpointPath ?? "unknown")",
                "status": "\(response.status.code)",
                "ms": "\(DaemonClock.monotonicMilliseconds() - start)",
            ])
        return response
    }

    private static func problem(_ error: any Error, logger: Logger) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let fault as StoreFault: return Problem(fault)
        case let error as HTTPError where error.status == .notFound: return .unknownPath
        case let error as HTTPError where error.status.code < 500:
            return .malformed("the request does not fit the path")
        default:
            logger.error("unexpected error", metadata: ["type": "\(type(of: error))"])
            return .internalError
        }
    }
}
