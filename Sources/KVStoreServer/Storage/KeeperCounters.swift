/// What the keeper has done since it started, for people who watch it.
struct KeeperCounters: Sendable, Equatable {
    /// Requests that changed something or waited for a sync.
    var commits = 0
    var recordsStored = 0
    var recordsRefused = 0
    var syncs = 0
    var syncMilliseconds = 0
    var compactionSteps = 0
    var refusedForSpace = 0
    var liveByteCount = 0
    var storeCount = 0
    var waiting = 0
    /// No more writes until the next start.
    var hasFailed = false
}
