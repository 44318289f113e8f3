import Dispatch
import Foundation
import Synchronization

/// The signals that ask a program to stop. The first one is told; a second one ends the process.
///
/// Unchecked: the sources are only kept, so that they live as long as this does.
final class StopSignals: @unchecked Sendable {
    private let arrived: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let arrivals = Arrivals()
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if arrivals.add() > 1 { exit(128 + number) }
                continuation.finish()
            }
            source.resume()
            return source
        }
        arrived = stream
    }

    /// Returns when a signal has arrived, or when the task is cancelled.
    func wait() async { for await _ in arrived {} }

    private final class Arrivals: Sendable {
        private let count = Mutex(0)

        func add() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }
}
