import Dispatch
import Essentials

/// Handles a signal that would otherwise end the process. Active while it exists.
final class SignalHandler {
    private let source: any DispatchSourceSignal

    init(_ number: Int32, _ handle: @escaping @Sendable () -> Void) {
        signal(number, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handle)
        source.activate()
    }

    deinit { source.cancel() }
}
