import Dispatch
import Essentials
import Synchronization

/// Signals as events to await, instead of what they do by default.
package enum SignalArrivals {
    /// The numbers of those of `signals` that arrive from now on. None is missed once this returns, unlike with a
    /// dispatch source, which is installed some time after its activation.
    ///
    /// A signal has one receiver: the last one that asked for it.
    package static func numbers(of signals: [Int32]) -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        receive(signals, handler: sendArrival) { continuation.yield($0) }
        return stream
    }

    /// - Parameters:
    ///   - handler: calls `sendArrival`.
    ///   - receiver: called with each signal that arrives.
    static func receive(
        _ signals: [Int32], handler: @convention(c) (Int32) -> Void, _ receiver: @escaping @Sendable (Int32) -> Void
    ) {
        receivers.withLock { for number in signals { $0[number] = receiver } }
        _ = isReading
        for number in signals { signal(number, handler) }
    }

    private static let receivers = Mutex<[Int32: @Sendable (Int32) -> Void]>([:])

    private static let isReading: Bool = {
        guard let ends = PipeEnds(isNonblocking: true) else {
            preconditionFailure("cannot create the signal pipe: \(String(cString: strerror(errno)))")
        }
        writingEnd.store(ends.writing, ordering: .releasing)
        let source = DispatchSource.makeReadSource(fileDescriptor: ends.reading, queue: .global())
        source.setEventHandler {
            var number: UInt8 = 0
            while read(ends.reading, &number, 1) == 1 {
                receivers.withLock { $0[Int32(number)] }?(Int32(number))
            }
            // As long as the process.
            withExtendedLifetime(source) {}
        }
        source.activate()
        return true
    }()
}

/// The writing end of the pipe; the only state of the handler, initialized before it is installed.
private let writingEnd = Atomic<Int32>(-1)

/// Async-signal-safe.
func sendArrival(_ number: Int32) {
    let previous = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(writingEnd.load(ordering: .relaxed), &byte, 1)
    errno = previous
}
