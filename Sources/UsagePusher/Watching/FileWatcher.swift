/// Says when files and folders change.
///
/// A watcher is a value that starts nothing until `events(for:)` is called; every call watches on
/// its own. Dropping the returned sequence, or cancelling the task that iterates it, ends the
/// watching and closes what it held.
public protocol FileWatcher: Sendable {
    /// Begins to watch the paths, present or not.
    func events(for paths: [WatchedPath]) -> WatchEvents
}

extension FileWatcher {
    /// Waits until `isMet` says so, or the task is cancelled.
    ///
    /// It is asked with every event, the first of which comes when the watching has begun: what is so by then, since
    /// whatever the caller compares with, is seen as well as what becomes so later.
    public func wait(for paths: [WatchedPath], until isMet: () -> Bool) async {
        for await _ in events(for: paths) where isMet() { return }
    }
}

/// What a watcher has to tell.
public enum WatchEvent: Sendable, Equatable {
    /// From here on no change is missed: read the files now, then wait for `changed`.
    case started
    /// Something at or below these watched paths changed since the last event. Bursts are merged
    /// while nobody asks, so the paths are the ones that were asked for, not every file.
    case changed(Set<WatchedPath>)
    /// Changes may arrive late: the reason, with the number that can be raised, for a person.
    case degraded(String)
}

/// What watching may cost.
public struct WatchLimits: Sendable, Equatable {
    /// Folders watched at most; beyond it the rest is compared every `pollInterval`.
    public var folderCount = 8_192
    /// Folders below a recursive path, counted from it.
    public var depth = 12
    /// Entries of folders looked at to find further folders, in one pass.
    public var entryCount = 200_000
    /// Time between two comparisons where the system gives no notice.
    public var pollInterval = Duration.seconds(30)

    public init() {}
}
