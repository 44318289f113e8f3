import CommandSupport
import Dispatch
import Essentials
import TerminalText

/// The terminal in raw mode on its alternate screen, from `init` to `close`.
///
/// It is restored by `close`, by the process exiting, and by every signal that ends the process, crashes included;
/// the signal then has its usual effect. At most one session per process is open.
///
/// Unchecked: after `init` the sources are only cancelled, which is safe from any thread.
final class TerminalSession: @unchecked Sendable {
    enum Event: Sendable, Equatable {
        case bytes([UInt8])
        case resized
    }

    /// Input and resizes, in order; finishes when the terminal is gone. One consumer.
    let events: AsyncStream<Event>
    private let output: Int32
    private let keys: any DispatchSourceRead
    private let resizes: any DispatchSourceSignal

    init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) throws(CommandFailure) {
        try TerminalRestoration.arm(input: input, output: output)
        self.output = output
        // Unhandled input beyond this is dropped.
        let (events, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingOldest(256))
        self.events = events
        let queue = DispatchQueue(label: "usage-view.terminal")

        let keys = DispatchSource.makeReadSource(fileDescriptor: input, queue: queue)
        keys.setEventHandler { [keys] in
            var buffer = [UInt8](repeating: 0, count: 1_024)
            let count = read(input, &buffer, buffer.count)
            if count > 0 {
                continuation.yield(.bytes(Array(buffer[..<count])))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                keys.cancel()
                continuation.finish()
            }
        }
        self.keys = keys
        // A dispatch source sees the signal only if the default action does not.
        signal(SIGWINCH, SIG_IGN)
        resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: queue)
        resizes.setEventHandler { continuation.yield(.resized) }
        keys.activate()
        resizes.activate()
        write(ANSI.enterScreen)
    }

    deinit { close() }

    /// The current size, or a usual one if the terminal does not report it.
    var size: ScreenSize {
        let size = Descriptor.terminalSize(of: output) ?? (columns: 80, rows: 24)
        return ScreenSize(columns: size.columns, rows: size.rows)
    }

    /// Drops the text if the terminal is gone or accepts nothing for a second.
    func write(_ text: String) {
        try? Descriptor.write(Data(text.utf8), to: output, timeout: .seconds(1))
    }

    /// Restores the terminal. May be called more than once.
    func close() {
        keys.cancel()
        resizes.cancel()
        TerminalRestoration.restore()
    }
}
