import Essentials

/// Bounds the time between the first signal and the end of the process, whatever hangs.
///
/// A kernel alarm needs no thread; all threads may be blocked.
enum ShutdownDeadline {
    static let seconds: UInt32 = 10
    /// EX_SOFTWARE of sysexits.h.
    static let status: Int32 = 70

    static func arm() {
        signal(SIGALRM) { _ in _exit(ShutdownDeadline.status) }
        alarm(seconds)
    }
}
