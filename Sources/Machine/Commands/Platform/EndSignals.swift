import Essentials
import Synchronization

/// SIGINT, SIGTERM and, on request, SIGHUP as an event to await. A second SIGINT or SIGTERM ends the process at once,
/// with status 128 plus its number.
///
/// The handlers are installed when `init` returns, and no later signal is missed. Create one per process,
/// before anything announces that Ctrl-C is handled.
package final class EndSignals: Sendable {
    private let arrived: AsyncStream<Never>

    /// - Parameter includingHangUp: whether SIGHUP is such a signal, unless the process was started to ignore it.
    package init(includingHangUp: Bool = false) {
        _ = arrivalCount.load(ordering: .acquiring)
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        arrived = stream
        let signals = [SIGINT, SIGTERM] + (includingHangUp && !sigaction.isIgnored(SIGHUP) ? [SIGHUP] : [])
        SignalArrivals.receive(signals, handler: endSignalArrived) { _ in continuation.finish() }
    }

    /// Returns once a signal has arrived, also one that arrived earlier, or when the task is cancelled.
    package func wait() async { for await _ in arrived {} }
}

/// The only state of the handler; initialized before it is installed.
private let arrivalCount = Atomic<Int>(0)

/// Async-signal-safe.
private func endSignalArrived(_ number: Int32) {
    // The end of a terminal sends SIGHUP more than once: from the kernel and from the shell.
    if number != SIGHUP, arrivalCount.add(1, ordering: .relaxed).newValue > 1 { _exit(128 + number) }
    sendArrival(number)
}
