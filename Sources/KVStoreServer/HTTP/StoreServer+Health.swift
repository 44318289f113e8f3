import Hummingbird
import KVStoreWire

/// For monitoring. Needs no token and reveals nothing of any account.
extension StoreServer {
    func liveness(_: Request, _: ServerRequestContext) -> Response { text("ok\n") }

    /// Whether writes are accepted.
    func readiness(_: Request, _: ServerRequestContext) throws -> Response {
        if metrics.counters.hasFailed { throw Problem.diskFailed }
        return text("ready\n")
    }

    func metrics(_: Request, _: ServerRequestContext) -> Response {
        text(
            metrics.text(streams: engine.watchers.count),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }

    private func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(.ok, type, text.utf8)
    }
}
