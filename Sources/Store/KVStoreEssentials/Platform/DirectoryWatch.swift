import Dispatch
import KVStoreLog

/// Says when files of a folder have been written to, created or removed, by any process.
///
/// Ends with its last reference, or earlier by `cancel`; what it held is closed soon after.
package protocol DirectoryWatch: AnyObject, Sendable {
    func cancel()
}

/// A folder outside the store's own that is watched by the same means.
package enum WatchedDirectory {
    /// Runs `changed`, on a queue of the watch's own, when a file of the folder has been written, moved or removed, or
    /// the folder itself; where the system cannot tell, every two seconds.
    package static func watch(_ path: String, changed: @escaping @Sendable () -> Void) -> any DirectoryWatch {
        System.watch(directory: path, queue: DispatchQueue(label: "ubiquity.watch"), changed: changed)
    }
}

/// Where the system cannot tell: looks every two seconds.
/// Unchecked because Dispatch does not declare its sources, which any thread may cancel, as sendable.
final class PollingDirectoryWatch: DirectoryWatch, @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    init(queue: DispatchQueue, changed: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .seconds(2), repeating: .seconds(2))
        timer.setEventHandler(handler: changed)
        timer.activate()
        self.timer = timer
    }

    deinit { timer.cancel() }

    func cancel() { timer.cancel() }
}
