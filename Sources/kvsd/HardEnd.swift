import Foundation

/// Ends the process some time after it was asked to stop, whatever is open or hangs then.
///
/// An alarm of the kernel: it needs no thread that could be blocked too.
enum HardEnd {
    static let seconds: UInt32 = 10
    /// EX_SOFTWARE of sysexits.h.
    static let status: Int32 = 70

    static func arm() {
        signal(SIGALRM) { _ in _exit(HardEnd.status) }
        alarm(seconds)
    }
}
