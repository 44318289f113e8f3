import CommandSupport
import Essentials
import TerminalText

/// Restores the terminal, also from a signal handler: `arm` prepares everything, and `restore` calls only write
/// and tcsetattr, which are async-signal-safe.
enum TerminalRestoration {
    private struct State {
        var isArmed = false
        var isExitHookSet = false
        var input: Int32 = -1
        var output: Int32 = -1
        var attributes = termios()
        var farewell = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    }

    /// Written by `arm` before a handler is installed. A signal between the check and the change in `restore`
    /// restores twice, which is harmless.
    private nonisolated(unsafe) static var state = State()

    private static let endingSignals = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
    ]

    /// Saves the terminal's settings, installs the handlers that restore them, and enters raw mode.
    static func arm(input: Int32, output: Int32) throws(CommandFailure) {
        guard !state.isArmed else {
            throw CommandFailure(.usage, "the terminal is already in use by this process")
        }
        guard isatty(input) == 1, isatty(output) == 1 else {
            throw CommandFailure(
                .usage,
                "--watch needs a terminal for input and output; print once without --watch")
        }
        var saved = termios()
        guard tcgetattr(input, &saved) == 0 else {
            throw refusal("read the terminal settings", errno)
        }
        if state.farewell.isEmpty {
            let bytes = Array(ANSI.leaveScreen.utf8)
            state.farewell = .allocate(capacity: bytes.count)
            _ = state.farewell.initialize(from: bytes)
        }
        state.input = input
        state.output = output
        state.attributes = saved
        state.isArmed = true
        if !state.isExitHookSet {
            state.isExitHookSet = true
            atexit { TerminalRestoration.restore() }
        }
        for number in endingSignals {
            signal(number) { number in
                signal(number, SIG_DFL)
                TerminalRestoration.restore()
                raise(number)
            }
        }
        var raw = saved
        cfmakeraw(&raw)
        guard tcsetattr(input, TCSANOW, &raw) == 0 else {
            let code = errno
            state.isArmed = false
            throw refusal("enter raw mode", code)
        }
    }

    private static func refusal(_ operation: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            .usage,
            "cannot \(operation): \(String(cString: strerror(code)).lowercased()); print once without --watch"
        )
    }

    /// Does nothing unless armed.
    static func restore() {
        guard state.isArmed else { return }
        state.isArmed = false
        _ = write(state.output, state.farewell.baseAddress, state.farewell.count)
        tcsetattr(state.input, TCSANOW, &state.attributes)
    }
}
