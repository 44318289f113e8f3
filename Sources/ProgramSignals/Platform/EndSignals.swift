import Dispatch
import Foundation
import Synchronization

/// Ctrl-C and a polite kill (SIGINT and SIGTERM) as an event to wait for. A second one ends the process at
/// once, with 128 and the signal's number.
///
/// The handlers stand when `init` returns, so make one before anything tells a person that they may press
/// Ctrl-C: no signal after that is missed. One per process.
public final class EndSignals: Sendable {
    private let arrived: AsyncStream<Never>
    private let source: ReadSource

    public init() {
        let ends = Self.makePipe()
        handlerPipe.store(ends.write, ordering: .releasing)
        _ = arrivalCount.load(ordering: .acquiring)
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        arrived = stream
        source = ReadSource(descriptor: ends.read) { continuation.finish() }
        for number in [SIGINT, SIGTERM] { signal(number, endSignalArrived) }
    }

    /// Returns when one of the signals has come, now or before, or when the task is cancelled.
    public func wait() async { for await _ in arrived {} }

    private static func makePipe() -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            preconditionFailure("no pipe for signals: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }
}

/// What a handler may touch: both are made before it stands.
private let handlerPipe = Atomic<Int32>(-1)
private let arrivalCount = Atomic<Int>(0)

/// Only calls that a signal handler may make.
private func endSignalArrived(_ number: Int32) {
    if arrivalCount.add(1, ordering: .relaxed).newValue > 1 { _exit(128 + number) }
    let previous = errno
    var byte: UInt8 = 1
    _ = write(handlerPipe.load(ordering: .relaxed), &byte, 1)
    errno = previous
}

/// Unchecked because Dispatch does not declare its sources as sendable; it is only kept.
private final class ReadSource: @unchecked Sendable {
    private let source: any DispatchSourceRead

    init(descriptor: Int32, _ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        source.setEventHandler { [source] in
            source.cancel()
            handler()
        }
        source.activate()
    }
}
