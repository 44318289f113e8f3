import Synchronization

/// Counters in the text format of Prometheus. No label names an account, a device, a store or a key.
final class Metrics: Sendable {
    struct Counters: Sendable {
        /// Answers by the first digit of their status.
        var answers: [Int: Int] = [:]
        var failedAuthentications = 0
        var slowReaders = 0
    }

    private let state = Mutex(Counters())

    var counters: Counters { state.withLock { $0 } }

    func count(_ change: (inout Counters) -> Void) { state.withLock { change(&$0) } }

    func text(_ engine: StorageEngine.Counters, streams: Int, connections: Int) -> String {
        let counters = counters
        let totals: [(name: String, help: String, value: Int)] = [
            (
                "failed_authentications", "Requests without a valid token.",
                counters.failedAuthentications
            ),
            (
                "slow_readers_cut", "Connections closed because nothing was read.",
                counters.slowReaders
            ),
            ("commits", "Requests that changed a store.", engine.commits),
            ("records_stored", "Changes that were accepted.", engine.recordsStored),
            ("records_refused", "Changes that were rejected.", engine.recordsRejected),
            ("disk_syncs", "Syncs of the log.", engine.syncs),
            ("disk_sync_milliseconds", "Time spent in syncs.", engine.syncMilliseconds),
            ("compaction_steps", "Steps of compaction.", engine.compactionSteps),
            (
                "disk_full", "Requests refused because the disk is full.",
                engine.requestsRefusedForSpace
            ),
        ]
        let gauges: [(name: String, help: String, value: Int)] = [
            ("live_bytes", "Bytes of all values.", engine.liveByteCount),
            ("stores", "Stores of all accounts.", engine.storeCount),
            ("requests_waiting", "Requests waiting for the disk.", engine.waiting),
            ("streams_open", "Live streams.", streams),
            ("connections_open", "Connections.", connections),
            ("disk_failed", "1 when no more writes are accepted.", engine.hasFailed ? 1 : 0),
        ]
        func header(_ name: String, _ type: String, _ help: String) -> String {
            "# HELP kvsd_\(name) \(help)\n# TYPE kvsd_\(name) \(type)\n"
        }
        var text = header("answers_total", "counter", "Answers by class of status.")
        for digit in 1...5 {
            text += "kvsd_answers_total{class=\"\(digit)xx\"} \(counters.answers[digit] ?? 0)\n"
        }
        for (name, help, value) in totals {
            text += header("\(name)_total", "counter", help) + "kvsd_\(name)_total \(value)\n"
        }
        for (name, help, value) in gauges {
            text += header(name, "gauge", help) + "kvsd_\(name) \(value)\n"
        }
        return text
    }
}
