import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The outermost one: every error becomes a problem document, every request is counted, and a
/// connection whose body was left unread does not stay.
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
            let problem = Self.problem(error, logger: context.logger)
            response = problem.response
        }
        if context.body.state != .streaming, await !request.drain(context, server.limits) {
            // The connection lives a moment longer, so that the answer gets through.
            response.headers[.connection] = "close"
            let channel = context.channel
            channel.eventLoop.scheduleTask(in: .milliseconds(server.limits.drainMilliseconds)) {
                channel.close(promise: nil)
            }
        }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        server.metrics.count { $0.count(status: Int(response.status.code)) }
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
            return .notUnderstood("the request does not fit the path")
        default:
            logger.error("unexpected error", metadata: ["type": "\(type(of: error))"])
            return .internalError
        }
    }
}
