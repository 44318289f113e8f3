import Synchronization

/// Counters in the text form of Prometheus. No label names an account, a device, a store or a key.
final class Metrics: Sendable {
    struct Counters: Sendable {
        /// Answers by the first digit of their status.
        var answers: [Int: Int] = [:]
        var failedAuthentications = 0
        var slowReadersCut = 0

        mutating func count(status: Int) { answers[status / 100, default: 0] += 1 }
    }

    private let state = Mutex(Counters())

    var counters: Counters { state.withLock { $0 } }

    func count(_ change: (inout Counters) -> Void) { state.withLock { change(&$0) } }

    func text(keeper: KeeperCounters, streams: Int, connections: Int) -> String {
        let own = counters
        var text = ""
        func add(_ name: String, _ kind: String, _ help: String, _ values: [(String, Int)]) {
            text += "# HELP kvsd_\(name) \(help)\n# TYPE kvsd_\(name) \(kind)\n"
            for (label, value) in values { text += "kvsd_\(name)\(label) \(value)\n" }
        }
        func counter(_ name: String, _ help: String, _ value: Int) {
            add(name, "counter", help, [("", value)])
        }
        func gauge(_ name: String, _ help: String, _ value: Int) {
            add(name, "gauge", help, [("", value)])
        }
        add(
            "answers_total", "counter", "Answers by class of status.",
            (1...5).map { ("{class=\"\($0)xx\"}", own.answers[$0, default: 0]) })
        counter(
            "failed_authentications_total", "Requests without a valid token.",
            own.failedAuthentications)
        counter(
            "slow_readers_cut_total", "Connections closed because nothing was read.",
            own.slowReadersCut)
        counter("commits_total", "Requests that changed a store.", keeper.commits)
        counter("records_stored_total", "Changes that won.", keeper.recordsStored)
        counter("records_refused_total", "Changes that were rejected.", keeper.recordsRefused)
        counter("disk_syncs_total", "Syncs of the log.", keeper.syncs)
        counter("disk_sync_milliseconds_total", "Time in syncs.", keeper.syncMilliseconds)
        counter("compaction_steps_total", "Steps of compaction.", keeper.compactionSteps)
        counter(
            "disk_full_total", "Requests refused for want of space.", keeper.refusedForSpace)
        gauge("live_bytes", "Bytes of all values.", keeper.liveByteCount)
        gauge("stores", "Stores of all accounts.", keeper.storeCount)
        gauge("requests_waiting", "Requests that wait for their turn or the disk.", keeper.waiting)
        gauge("streams_open", "Live streams.", streams)
        gauge("connections_open", "Connections.", connections)
        gauge("disk_failed", "1 when no more writes are taken.", keeper.hasFailed ? 1 : 0)
        return text
    }
}
