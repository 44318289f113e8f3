/// A group of benchmarks, selected by name.
enum BenchmarkGroup: String, CaseIterable {
    case append, set, open, ledger, commit, compaction, page, daemon, watch, wire

    var summary: String {
        switch self {
        case .append: "append a record to a replica with 10, 1,000 and 4,096 keys"
        case .set: "set a new value, set an equal one, and read, through the public API"
        case .open: "open a full replica, compared with reading a file of its size"
        case .ledger: "apply a change to a daemon's store with 10, 1,000 and 4,096 keys"
        case .commit: "requests that share a disk sync, compared with one sync each"
        case .compaction: "one compaction step, by segment size and by log size"
        case .page: "the changes after a cursor in a store with 10, 1,000 and 4,096 keys"
        case .daemon: "open a daemon's log with 10,000 and 100,000 stores: time and memory"
        case .watch: "deliver a change to 1, 16 and 256 readers of another open store"
        case .wire: "encode and decode a push, in JSON and in binary"
        }
    }

    func measure(_ setting: Setting) async throws -> Findings {
        switch self {
        case .append: try AppendBenchmarks.measure(setting)
        case .set: try SetBenchmarks.measure(setting)
        case .open: try OpenBenchmarks.measure(setting)
        case .ledger: try LedgerBenchmarks.measure(setting)
        case .commit: try CommitBenchmarks.measure(setting)
        case .compaction: try CompactionBenchmarks.measure(setting)
        case .page: try PageBenchmarks.measure(setting)
        case .daemon: try DaemonOpenBenchmarks.measure(setting)
        case .watch: try await WatchBenchmarks.measure(setting)
        case .wire: try WireBenchmarks.measure(setting)
        }
    }
}

/// How a group is to be measured.
struct Setting {
    /// The directory for files, on the disk to be measured.
    var folder: String
    /// Divides the number of runs and the largest sizes, for a quick check.
    var divisor: Int

    func runs(_ count: Int) -> Int { max(3, count / divisor) }
}
