import Dispatch
package import Essentials

/// The wall clock, which may be stepped and advances while the machine sleeps.
package enum WallClock {
    /// The latest time that a timer is set for; a later one is that of a mistake.
    private static let latest = 253_402_300_799.0

    /// Returns once the clock shows `date`, however it gets there, or when the task is cancelled.
    package static func sleep(until date: Date) async {
        let wanted = date.timeIntervalSince1970
        // Dispatch takes the first nanosecond of 1970 for the end of time.
        let seconds = wanted > 1 ? min(wanted, latest) : 1
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        let (fired, continuation) = AsyncStream<Never>.makeStream()
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(wallDeadline: DispatchWallTime(timespec: time), leeway: .milliseconds(20))
        timer.setEventHandler { continuation.finish() }
        timer.activate()
        for await _ in fired {}
        timer.cancel()
    }
}
