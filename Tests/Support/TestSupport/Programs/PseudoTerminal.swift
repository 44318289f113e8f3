import Dispatch
package import Foundation
import Testing

/// The two ends of a pseudo terminal: the test is the user, a program or session has the other end.
///
/// Unchecked: after `init` the source is only cancelled, which is safe from any thread.
package final class PseudoTerminal: @unchecked Sendable {
    package let program: Int32
    private let user: Int32
    /// The output of the program in pieces; finishes when no more can come.
    private let shown: AsyncStream<[UInt8]>
    private let reading: any DispatchSourceRead

    package init() throws {
        let (user, program) = try #require(Self.openPair())
        self.user = user
        self.program = program
        let (shown, continuation) = AsyncStream<[UInt8]>.makeStream()
        self.shown = shown
        reading = DispatchSource.makeReadSource(fileDescriptor: user, queue: DispatchQueue(label: "user"))
        reading.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(user, &buffer, buffer.count)
            if count > 0 {
                continuation.yield(Array(buffer[..<count]))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                continuation.finish()
            }
        }
        reading.setCancelHandler {
            continuation.finish()
            close(user)
        }
        reading.activate()
    }

    package func closeBoth() {
        closeUser()
        closeProgram()
    }

    package func closeProgram() { close(program) }

    /// Hangs up, as a terminal window that is closed.
    package func closeUser() { reading.cancel() }

    /// Canonical input, echo and signals: on in a shell, off in raw mode.
    package var localFlags: tcflag_t {
        var attributes = termios()
        tcgetattr(program, &attributes)
        return attributes.c_lflag & tcflag_t(ICANON | ECHO | ISIG)
    }

    /// All settings that `stty` prints.
    package var settings: [UInt32] {
        var attributes = termios()
        tcgetattr(program, &attributes)
        let flags = [attributes.c_iflag, attributes.c_oflag, attributes.c_cflag, attributes.c_lflag]
        return flags.map { UInt32(truncatingIfNeeded: $0) }
            + withUnsafeBytes(of: attributes.c_cc) { $0.map { UInt32($0) } }
    }

    package func resize(columns: Int, rows: Int) {
        var size = winsize()
        (size.ws_col, size.ws_row) = (UInt16(clamping: columns), UInt16(clamping: rows))
        _ = ioctl(program, UInt(TIOCSWINSZ), &size)
    }

    package func type(_ text: String) { _ = write(user, text, text.utf8.count) }

    /// Waits for `text` and returns everything since the last wait. Only the suite's time limit ends a wait for
    /// text that never appears.
    @discardableResult
    package func wait(toSee text: String) async -> String {
        var bytes: [UInt8] = []
        for await piece in shown {
            bytes += piece
            let all = String(decoding: bytes, as: UTF8.self)
            if all.contains(text) { return all }
        }
        let all = String(decoding: bytes, as: UTF8.self)
        Issue.record("\(text.debugDescription) did not appear, only \(all.debugDescription)")
        return all
    }

    /// Shows the output on a screen until it satisfies a condition; otherwise as `wait(toSee:)`.
    package func show(on screen: inout TerminalScreen, until condition: (TerminalScreen) -> Bool) async {
        if condition(screen) { return }
        for await piece in shown {
            screen.apply(piece)
            if condition(screen) { return }
        }
        Issue.record("the screen ended as\n\(screen.text)")
    }

    /// Shows the output on a screen until it contains a text.
    package func show(on screen: inout TerminalScreen, until text: String) async {
        await show(on: &screen) { $0.text.contains(text) }
    }

    /// Shows all output that is left, until no more can come.
    package func showRest(on screen: inout TerminalScreen) async {
        for await piece in shown { screen.apply(piece) }
    }
}
