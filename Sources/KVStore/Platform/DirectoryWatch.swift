import Dispatch

/// Says when files of a folder have been written to or created, by any process.
///
/// Ends with its last reference, or earlier by `cancel`; what it held is closed soon after.
package protocol DirectoryWatch: AnyObject, Sendable {
    func cancel()
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
