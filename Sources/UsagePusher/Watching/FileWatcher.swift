/// Watches files and directories for changes.
///
/// A watcher starts nothing until `events(for:)` is called; every call watches on its own. Dropping the returned
/// sequence, or cancelling the task that iterates it, ends the watch and releases its resources.
///
/// ```swift
/// for await event in watcher.events(for: [WatchedPath(directory, isRecursive: true)]) {
///     switch event {
///     case .started, .changed: read()
///     case .degraded(let reason): print(reason)
///     }
/// }
/// ```
public protocol FileWatcher: Sendable {
    /// Starts to watch the paths, present or not.
    func events(for paths: [WatchedPath]) -> WatchEvents
}

extension FileWatcher {
    /// Waits until `isMet` returns true or the task is cancelled.
    ///
    /// `isMet` is called on every event, first when the watch has started: a condition that is met
    /// before that is seen as well as one that is met later.
    public func wait(for paths: [WatchedPath], until isMet: () -> Bool) async {
        for await _ in events(for: paths) where isMet() { return }
    }
}

/// What a watcher says.
///
/// For an example see `FileWatcher`.
public enum WatchEvent: Sendable, Equatable {
    /// From here on no change is missed: read the files now, then wait for `changed`.
    case started
    /// Something at or below these watched paths changed since the last event. Changes are merged
    /// until the next event is requested; paths are the watched ones, not the changed files.
    case changed(Set<WatchedPath>)
    /// Changes may be noticed late. The reason names the system limit to raise, for the user.
    case degraded(String)
}

/// What watching may cost.
///
/// ```swift
/// var limits = WatchLimits()
/// limits.pollInterval = .milliseconds(20)
/// let watcher = SystemFileWatcher(limits: limits)
/// ```
public struct WatchLimits: Sendable, Equatable {
    /// Directories that the system watches; the others are polled.
    public var directoryCount = 8_192
    /// Levels of directories below a recursive path.
    public var depth = 12
    /// Directory entries listed in one pass to find further directories.
    public var entryCount = 200_000
    /// Time between two rounds of polling what the system does not watch.
    public var pollInterval = Duration.seconds(1)
    /// Files and directories inspected in one round of polling, on average.
    public var inspectionCount = 2_000

    public init() {}
}
