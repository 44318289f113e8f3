import Dispatch
import Foundation

/// Ctrl-C and a polite kill, as an end of waiting instead of an end of the process.
enum EndSignals {
    /// Finishes when one of the signals comes. Afterwards the process ends only by itself.
    static func stream() -> AsyncStream<Never> {
        AsyncStream { continuation in
            let sources = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.finish() }
                source.activate()
                return SignalSource(source)
            }
            continuation.onTermination = { _ in for source in sources { source.cancel() } }
        }
    }
}

/// Unchecked because Dispatch does not declare its sources, which any thread may cancel, as sendable.
private struct SignalSource: @unchecked Sendable {
    private let source: any DispatchSourceSignal

    init(_ source: any DispatchSourceSignal) { self.source = source }

    func cancel() { source.cancel() }
}
