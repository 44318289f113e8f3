import KVStoreLedger
import KVStoreWire

/// For monitoring. Needs no token; names no account and counts all of them together.
extension StoreServer {
    /// Whether devices are found and writes accepted.
    func readiness() throws(Problem) -> Answer {
        try engine.checkReadiness()
        guard devices.isReadable else { throw .databaseUnavailable }
        return .text("ready\n")
    }

    /// Of all devices.
    var streamCount: Int { engine.loops.reduce(0) { $0 + $1.streamCount } }

    func metricsText() -> Answer {
        .text(
            metrics.text(
                Metrics.Gauges(
                    database: engine.database,
                    streams: streamCount, devices: devices.count,
                    logByteCount: engine.logByteCount,
                    memoryByteLimit: limits.memoryByteCount)),
            type: "text/plain; version=0.0.4; charset=utf-8")
    }
}
