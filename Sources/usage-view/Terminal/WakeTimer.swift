import Dispatch
import Essentials

/// Wakes its owner at a time of the wall clock, also when that clock is set or the machine has slept meanwhile.
///
/// Unchecked: a dispatch source may be used from any thread.
final class WakeTimer: @unchecked Sendable {
    private let source = DispatchSource.makeTimerSource()

    init(_ handler: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: handler)
        source.schedule(wallDeadline: .distantFuture)
        source.activate()
    }

    deinit { source.cancel() }

    /// Replaces the time of an earlier call.
    func wake(at date: Date) {
        let seconds = min(max(date.timeIntervalSince1970, 0), 1e10)
        let whole = seconds.rounded(.down)
        source.schedule(
            wallDeadline: DispatchWallTime(
                timespec: timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))))
    }
}
