import HTTPTypes
import Hummingbird
import KVStoreLog
import KVStoreWire
import Logging

/// The outermost middleware: turns every error into a problem document and logs every request.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = ServerRequestContext

    let limits: ServerLimits

    func handle(
        _ request: Request, context: ServerRequestContext,
        next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = System.monotonicMilliseconds()
        var response: Response
        do {
            try request.checkBody(limits)
            response = try await next(request, context)
        } catch {
            response = Self.problem(error, context.logger).response
        }
        if request.hasUnexpectedBody { response.headers[.connection] = "close" }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        // The template of the path, because keys are private.
        context.logger.debug(
            "request",
            metadata: [
                "method": "\(request.method)", "path": "\(context.endpointPath ?? "unknown")",
                "status": "\(response.status.code)",
                "ms": "\(System.monotonicMilliseconds() - start)",
            ])
        return response
    }

    private static func problem(_ error: any Error, _ logger: Logger) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as HTTPError where error.status == .notFound: return .unknownPath
        case let error as HTTPError where error.status.code < 500:
            return .malformed("the request does not match the path")
        default:
            logger.error("unexpected error", metadata: ["type": "\(type(of: error))"])
            return .internalError
        }
    }
}
