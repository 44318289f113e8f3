/// What can be measured by name.
enum BenchmarkGroup: String, CaseIterable {
    case append, set, open, ledger, commit, compaction, page, daemon, watch

    var summary: String {
        switch self {
        case .append: "one record appended to a replica with 10, 1,000 and 4,096 keys"
        case .set: "a new value, an equal one and a read, through the public class"
        case .open: "a full replica opened, beside reading a file of the same size"
        case .ledger: "one change taken in by a daemon's store with 10, 1,000 and 4,096 keys"
        case .commit: "requests that share a disk sync, beside a sync each"
        case .compaction: "one compaction step, by segment size and by log size"
        case .page: "the changes after a cursor in a store with 10, 1,000 and 4,096 keys"
        case .daemon: "a daemon's log with 10,000 and 100,000 stores opened: time and memory"
        case .watch: "a change told to 1, 16 and 256 readers in another opening of the replica"
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
        }
    }
}

/// How a group is to be measured.
struct Setting {
    /// Where files are made; the disk that is measured.
    var folder: String
    /// Divides the number of runs and the largest sizes, to see that everything works.
    var divisor: Int

    func runs(_ count: Int) -> Int { max(3, count / divisor) }
}
