import Foundation

/// Ends the process some time after it was asked to stop, whatever hangs.
///
/// Uses an alarm of the kernel, which needs no thread: all of them may be blocked.
enum HardEnd {
    static let seconds: UInt32 = 10
    /// EX_SOFTWARE of sysexits.h.
    static let status: Int32 = 70

    static func arm() {
        signal(SIGALRM) { _ in _exit(HardEnd.status) }
        alarm(seconds)
    }
}
