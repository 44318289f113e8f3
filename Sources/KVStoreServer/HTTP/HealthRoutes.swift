import HTTPTypes
import Hummingbird
import Synchronization

/// For people and machines that watch the server. No token is needed: nothing of any account is
/// told.
struct HealthRoutes: Sendable {
    let server: StoreServer

    func alive() -> Response { text("ok\n", type: "text/plain; charset=utf-8") }

    /// Whether writes are taken.
    func ready() throws -> Response {
        if server.keeper.counters.withLock({ $0.hasFailed }) { throw StoreFault.diskFailed("") }
        return text("ready\n", type: "text/plain; charset=utf-8")
    }

    func metrics() -> Response {
        text(
            server.metrics.text(
                keeper: server.keeper.counters.withLock { $0 },
                streams: server.keeper.watchers.count, connections: server.connections.count),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }

    private func text(_ text: String, type: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
