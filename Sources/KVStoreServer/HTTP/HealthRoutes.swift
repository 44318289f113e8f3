import Hummingbird
import KVStoreWire

/// For monitoring. Needs no token and reveals nothing of any account.
struct HealthRoutes: Sendable {
    let server: StoreServer

    func alive() -> Response { text("ok\n") }

    /// Whether writes are accepted.
    func ready() throws -> Response {
        if server.engine.counters.hasFailed { throw Problem.diskFailed }
        return text("ready\n")
    }

    func metrics() -> Response {
        text(
            server.metrics.text(
                server.engine.counters, streams: server.engine.watchers.count,
                connections: server.connections.count),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }

    private func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(.ok, type, text.utf8)
    }
}
