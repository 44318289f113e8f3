import Dispatch
import Essentials

/// SIGHUP, which would otherwise end the process. Active while it exists.
final class ReloadSignal {
    private let source: any DispatchSourceSignal

    init(_ reload: @escaping @Sendable () -> Void) {
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler(handler: reload)
        source.activate()
    }

    deinit { source.cancel() }
}
