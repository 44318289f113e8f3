import Synchronization

/// Counts what a server does, for monitoring. Safe to call from any thread.
final class Metrics: Sendable {
    struct Counters: Sendable, Equatable {
        /// Answers by the first digit of their status.
        var answers = [Int](repeating: 0, count: 6)
        var failedAuthentications = 0
        var slowReaders = 0
        /// Open connections.
        var connections = 0
        /// Requests that changed something or had something rejected.
        var commits = 0
        var recordsStored = 0
        var recordsRejected = 0
        var syncs = 0
        var syncNanoseconds: Int64 = 0
        var compactionSteps = 0
        var requestsRefusedForSpace = 0
        var liveByteCount = 0
        var storeCount = 0
        /// Requests waiting for the disk.
        var waiting = 0
        /// No more writes until the next start.
        var hasFailed = false
    }

    private let state = Mutex(Counters())

    var counters: Counters { state.withLock { $0 } }

    func count<Result: Sendable>(_ change: (inout Counters) -> Result) -> Result {
        state.withLock { change(&$0) }
    }

    /// The text format of Prometheus. No label names an account, a device, a store or a key.
    func text(streams: Int) -> String {
        let counters = counters
        var text = ""
        func describe(_ name: String, _ type: String, _ help: String) {
            text += "# HELP kvsd_\(name) \(help)\n# TYPE kvsd_\(name) \(type)\n"
        }
        func counter(_ name: String, _ help: String, _ value: Int) {
            describe("\(name)_total", "counter", help)
            text += "kvsd_\(name)_total \(value)\n"
        }
        func gauge(_ name: String, _ help: String, _ value: Int) {
            describe(name, "gauge", help)
            text += "kvsd_\(name) \(value)\n"
        }
        describe("answers_total", "counter", "Answers by class of status.")
        for digit in 1...5 {
            text += "kvsd_answers_total{class=\"\(digit)xx\"} \(counters.answers[digit])\n"
        }
        counter(
            "failed_authentications", "Requests without a valid token.",
            counters.failedAuthentications)
        counter(
            "slow_readers_cut", "Connections closed because nothing was read.",
            counters.slowReaders)
        counter("commits", "Requests that changed a store.", counters.commits)
        counter("records_stored", "Changes that were accepted.", counters.recordsStored)
        counter("records_refused", "Changes that were rejected.", counters.recordsRejected)
        counter("disk_syncs", "Syncs of the log.", counters.syncs)
        counter("disk_sync_milliseconds", "Time spent in syncs.", Int(counters.syncNanoseconds / 1_000_000))
        counter("compaction_steps", "Steps of compaction.", counters.compactionSteps)
        counter(
            "disk_full", "Requests refused because the disk is full.",
            counters.requestsRefusedForSpace)
        gauge("live_bytes", "Bytes of all values.", counters.liveByteCount)
        gauge("stores", "Stores of all accounts.", counters.storeCount)
        gauge("requests_waiting", "Requests waiting for the disk.", counters.waiting)
        gauge("streams_open", "Live streams.", streams)
        gauge("connections_open", "Connections.", counters.connections)
        gauge("disk_failed", "1 when no more writes are accepted.", counters.hasFailed ? 1 : 0)
        return text
    }
}
