import Dispatch
import Essentials
import Synchronization

/// The signals of a window and of job control, as events, and stopping.
///
/// The handlers are installed once per process; each `init` redirects them to itself.
///
/// Unchecked: after `init` the source is only cancelled, which is safe from any thread.
final class JobSignals: @unchecked Sendable {
    private let source: any DispatchSourceRead

    /// Nil if the system has no more descriptors.
    init?(queue: DispatchQueue, _ handler: @escaping @Sendable (TerminalSession.Event) -> Void) {
        guard let ends = PipeEnds(isNonblocking: true) else { return nil }
        let (reading, writing) = (ends.reading, ends.writing)
        source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: queue)
        source.setEventHandler {
            var numbers = [UInt8](repeating: 0, count: 64)
            let count = max(0, read(reading, &numbers, numbers.count))
            // Several of a kind are one.
            let arrived = Set(numbers[..<count].map { Int32($0) })
            if arrived.contains(SIGTSTP) { handler(.suspendRequested) }
            if arrived.contains(SIGCONT) { handler(.continued) }
            if arrived.contains(SIGWINCH) { handler(.resized) }
        }
        source.setCancelHandler {
            let (wasOpen, _) = signalPipe.compareExchange(
                expected: writing, desired: -1, ordering: .sequentiallyConsistent)
            if wasOpen {
                for number in [SIGWINCH, SIGTSTP, SIGCONT] { signal(number, SIG_DFL) }
            }
            close(reading)
            close(writing)
        }
        signalPipe.store(writing, ordering: .sequentiallyConsistent)
        source.activate()
        for number in [SIGWINCH, SIGTSTP, SIGCONT] { signal(number, jobSignalArrived) }
    }

    func cancel() { source.cancel() }

    /// How often the process has been continued.
    static var continuationCount: Int { continuations.load(ordering: .relaxed) }

    /// Stops the process as a shell expects it, until it is continued.
    ///
    /// - Parameter number: SIGTSTP, which also stops the programs of the same job, or SIGTTOU.
    /// - Returns: false if the system does not stop it, because nobody could continue it.
    @discardableResult
    static func stop(_ number: Int32) -> Bool {
        let before = continuationCount
        if number == SIGTSTP {
            signal(number, SIG_IGN)
            kill(0, number)
        }
        signal(number, SIG_DFL)
        // The threads of Dispatch block signals. Sent to this thread and unblocked, it has stopped the process before
        // the next line.
        var mask = sigset_t()
        var former = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, number)
        raise(number)
        pthread_sigmask(SIG_UNBLOCK, &mask, &former)
        pthread_sigmask(SIG_SETMASK, &former, nil)
        if number == SIGTSTP { signal(number, jobSignalArrived) }
        // The handler may run on another thread.
        for _ in 0..<100 where continuationCount == before { usleep(1_000) }
        return continuationCount != before
    }
}

/// The state of the handler; both are initialized before it is installed.
private let signalPipe = Atomic<Int32>(-1)
private let continuations = Atomic<Int>(0)

/// Async-signal-safe.
private func jobSignalArrived(_ number: Int32) {
    let previous = errno
    if number == SIGCONT { continuations.add(1, ordering: .relaxed) }
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe.load(ordering: .relaxed), &byte, 1)
    errno = previous
}
