import Commands
import Essentials
import Synchronization

/// Ends waits for descriptors. Safe to call from any thread.
final class Cancellation: Sendable {
    private let ends: PipeEnds
    private let cancelled = Atomic(false)

    init() {
        guard let ends = PipeEnds() else {
            preconditionFailure("cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        self.ends = ends
    }

    deinit {
        var ends = ends
        ends.close()
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
        var byte: UInt8 = 0
        _ = write(ends.writing, &byte, 1)
    }

    enum Wait { case ready, outOfTime, cancelled }

    /// Blocks until a descriptor is ready, the time is over, or it is cancelled.
    ///
    /// - Parameters:
    ///   - descriptor: negative to wait for the time alone.
    ///   - time: nil for no end.
    func wait(for descriptor: Int32 = -1, until time: ContinuousClock.Instant? = nil) -> Wait {
        while true {
            var slots = [
                pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let rest = time.map { max(.zero, $0 - ContinuousClock.now) }
            let milliseconds = rest.map { Int32(($0 / .milliseconds(1)).rounded(.up)) } ?? -1
            let count = poll(&slots, 2, milliseconds)
            if isCancelled { return .cancelled }
            if slots[1].revents != 0 { return .ready }
            if count == 0 { return .outOfTime }
        }
    }
}
