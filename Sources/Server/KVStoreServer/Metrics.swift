import Synchronization

/// Counts what a server does, for monitoring. Safe to call from any thread.
package final class Metrics: Sendable {
    package struct Counters: Sendable, Equatable {
        /// Answers by the first digit of their status.
        var answers = [Int](repeating: 0, count: 6)
        /// Seconds from a request's head to its answer, live streams excepted.
        var requestSeconds = Histogram([0.001, 0.005, 0.025, 0.1, 0.5, 2.5])
        /// Error answers by their code.
        var refusals: [String: Int] = [:]
        var failedAuthentications = 0
        var slowReaders = 0
        /// Open connections.
        var connections = 0
        /// Requests that changed something or had something rejected.
        package var commits = 0
        package var recordsStored = 0
        package var recordsRejected = 0
        /// Requests that share a sync.
        package var groupRequests = Histogram([1, 2, 4, 8, 16, 64, 256])
        package var syncSeconds = Histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1])
        var compactionSteps = 0
        var requestsRefusedForSpace = 0
        var incident: ServerReport.Incident?
    }

    /// What is counted elsewhere.
    struct Gauges: Sendable, Equatable {
        /// Nil with a log.
        var database: ServerReport.Database?
        var streams: Int
        var devices: Int
        /// Nil without a log.
        var log: LogState?
        var memoryByteLimit: Int
    }

    private let state = Mutex(Counters())

    package init() {}

    package var counters: Counters { state.withLock { $0 } }

    package func count<Result: Sendable>(_ change: (inout Counters) -> Result) -> Result {
        state.withLock { change(&$0) }
    }

    /// Begins an incident; false during one.
    package func beginIncident(_ text: String, now: Int64) -> Bool {
        count { counters in
            guard !counters.hasOpenIncident else { return false }
            counters.incident = ServerReport.Incident(text: text, time: now)
            return true
        }
    }

    /// Begins an incident, or gives the present one another text.
    package func recordIncident(_ text: String, now: Int64) {
        guard !beginIncident(text, now: now) else { return }
        count { $0.incident?.text = text }
    }

    /// Ends the incident; false without one.
    package func endIncident(now: Int64) -> Bool {
        count { counters in
            guard counters.hasOpenIncident else { return false }
            counters.incident?.recovered = now
            return true
        }
    }

    /// The text format of Prometheus. No label names an account, a device, a store or a key.
    func text(_ gauges: Gauges) -> String {
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
        func histogram(_ name: String, _ help: String, _ values: Histogram) {
            describe(name, "histogram", help)
            text += values.text("kvsd_\(name)")
        }
        describe("answers_total", "counter", "Answers by class of status.")
        for digit in 1...5 {
            text += "kvsd_answers_total{class=\"\(digit)xx\"} \(counters.answers[digit])\n"
        }
        describe("refusals_total", "counter", "Error answers by code, see docs/protocol.md.")
        for (code, count) in counters.refusals.sorted(by: { $0.key < $1.key }) {
            text += "kvsd_refusals_total{code=\"\(code)\"} \(count)\n"
        }
        histogram(
            "request_seconds", "Time from a request's head to its answer, without live streams.",
            counters.requestSeconds)
        counter("failed_authentications", "Requests with a wrong token or code.", counters.failedAuthentications)
        counter("slow_readers_cut", "Connections closed because nothing was read.", counters.slowReaders)
        counter("commits", "Requests that changed a store.", counters.commits)
        counter("records_stored", "Changes that were accepted.", counters.recordsStored)
        counter("records_refused", "Changes that were rejected.", counters.recordsRejected)
        if let database = gauges.database {
            histogram("database_commit_requests", "Requests that share a transaction.", counters.groupRequests)
            histogram("database_commit_seconds", "Time of a transaction.", counters.syncSeconds)
            counter(
                "database_conflicts", "Stores that another node had changed, and that were planned again.",
                database.conflictCount)
            counter(
                "database_repeated_groups",
                "Groups that were sent again, as a statement failed, a part was refused or a connection was lost.",
                database.repetitionCount ?? 0)
            gauge("database_nodes", "Nodes that have been seen within 30 seconds.", database.nodes.count)
            gauge("database_connections", "Connections for groups.", database.connectionCount)
            gauge("database_connections_busy", "Those that are in use.", database.busyCount)
            gauge(
                "database_notified", "1 where changes of other nodes are notified, not polled.",
                database.isNotified ? 1 : 0)
            if let lag = database.standbyLagByteCount {
                gauge("database_standby_lag_bytes", "What the slowest standby lacks.", lag)
            }
        } else {
            histogram("disk_sync_requests", "Requests that share a sync of the log.", counters.groupRequests)
            histogram("disk_sync_seconds", "Time of a sync of the log.", counters.syncSeconds)
            counter("compaction_steps", "Steps of compaction.", counters.compactionSteps)
        }
        counter("disk_full", "Requests refused because the disk is full.", counters.requestsRefusedForSpace)
        gauge(
            "memory_bytes", "Memory of all keys and values, as counted against the limit.",
            gauges.log?.memoryByteCount ?? gauges.database?.cacheByteCount ?? 0)
        gauge("memory_limit_bytes", "Limit on the memory of all keys and values.", gauges.memoryByteLimit)
        gauge("devices", "Devices of all accounts.", gauges.devices)
        if let log = gauges.log {
            gauge("log_bytes", "Size of the log's files.", log.fileByteCount)
            gauge("stores", "Stores of all accounts.", log.storeCount)
        }
        gauge("requests_waiting", "Requests waiting for the disk.", gauges.log?.waitingCount ?? 0)
        gauge("streams_open", "Live streams.", gauges.streams)
        gauge("connections_open", "Connections.", counters.connections)
        gauge("disk_failed", "1 while no writes are accepted.", gauges.log?.hasFailed == true ? 1 : 0)
        return text
    }
}

extension Metrics.Counters {
    var hasOpenIncident: Bool { incident.map { $0.recovered == nil } ?? false }
}
