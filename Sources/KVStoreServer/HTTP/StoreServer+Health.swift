import KVStoreWire

/// For monitoring. Needs no token and reveals nothing of any account.
extension StoreServer {
    /// Whether writes are accepted.
    func readiness() throws(Problem) -> Answer {
        if engine.read({ engine.failure != nil }) { throw .diskFailed }
        return .text("ready\n")
    }

    func metricsText() -> Answer {
        .text(
            metrics.text(streams: engine.loops.reduce(0) { $0 + $1.count }),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
