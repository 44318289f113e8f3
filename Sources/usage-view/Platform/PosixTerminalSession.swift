import CommandSupport
import Dispatch
import Foundation

/// The session on standard input and output of any POSIX system.
///
/// Unchecked: the sources are only cancelled after `init`, which is safe from any thread.
final class PosixTerminalSession: TerminalSession, @unchecked Sendable {
    let events: AsyncStream<TerminalEvent>
    private let output: Int32
    private let keys: any DispatchSourceRead
    private let resizes: any DispatchSourceSignal

    init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) throws(TerminalError) {
        try TerminalRestoration.arm(input: input, output: output)
        self.output = output
        // Input that comes faster than it is handled is dropped beyond this, oldest kept.
        let (events, continuation) = AsyncStream.makeStream(
            of: TerminalEvent.self, bufferingPolicy: .bufferingOldest(256))
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
        // A dispatch source sees the signal only when the default action does not.
        signal(SIGWINCH, SIG_IGN)
        resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: queue)
        resizes.setEventHandler { continuation.yield(.resized) }
        keys.activate()
        resizes.activate()
        write(FrameEncoder.enter)
    }

    deinit { close() }

    var size: ScreenSize {
        PlatformTerminal.size(of: output) ?? ScreenSize(columns: 80, rows: 24)
    }

    func write(_ text: String) {
        // A terminal that accepts nothing for a second is stopped: drop the frame.
        try? Descriptor.write(Data(text.utf8), to: output, timeout: .seconds(1))
    }

    func close() {
        keys.cancel()
        resizes.cancel()
        TerminalRestoration.restore()
    }
}
