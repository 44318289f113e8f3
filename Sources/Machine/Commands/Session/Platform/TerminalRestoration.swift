import Essentials
import TerminalText

/// Enters raw mode and restores the terminal, also from a signal handler: `restore` calls only write, tcgetpgrp and
/// tcsetattr, which are async-signal-safe.
///
/// A process that is killed by SIGKILL restores nothing; `reset` does it then.
enum TerminalRestoration {
    private struct State {
        var isArmed = false
        var isHooked = false
        var input: Int32 = -1
        var output: Int32 = -1
        var attributes = termios()
        var farewell = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    }

    /// Written by `arm` before a handler is installed. A signal between the check and the change in `restore`
    /// restores twice, which is harmless.
    private nonisolated(unsafe) static var state = State()

    /// Those that end a process unless it handles them, and can be handled.
    private static let endingSignals = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM,
        SIGPROF, SIGSYS, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
    ]

    /// Saves the terminal's settings, installs the handlers that restore them, and enters raw mode.
    ///
    /// - Parameters:
    ///   - output: should not block, or a terminal that is stuck keeps the process from ending.
    ///   - advice: for the message of an error: what to do without a terminal.
    static func arm(input: Int32, output: Int32, advice: String) throws(CommandFailure) {
        guard !state.isArmed else { throw CommandFailure(.usage, "the terminal is already in use by this process") }
        guard isatty(input) == 1, isatty(output) == 1 else {
            throw CommandFailure(.usage, "no terminal for input and output; \(advice)")
        }
        var saved = termios()
        guard tcgetattr(input, &saved) == 0 else { throw refusal("read the terminal settings", errno, advice) }
        if state.farewell.isEmpty {
            let bytes = Array(ANSI.leaveScreen.utf8)
            state.farewell = .allocate(capacity: bytes.count)
            _ = state.farewell.initialize(from: bytes)
        }
        state.input = input
        state.output = output
        state.attributes = saved
        state.isArmed = true
        if !state.isHooked {
            state.isHooked = true
            atexit { TerminalRestoration.restore() }
            // One that is ignored, as SIGHUP by nohup, stays so.
            for number in endingSignals where !sigaction.isIgnored(number) {
                signal(number) { number in
                    signal(number, SIG_DFL)
                    TerminalRestoration.restore()
                    raise(number)
                }
            }
        }
        guard enterRawMode() else {
            let code = errno
            state.isArmed = false
            throw refusal("enter raw mode", code, advice)
        }
    }

    /// After something else may have changed the settings.
    @discardableResult
    static func enterRawMode() -> Bool {
        var raw = state.attributes
        cfmakeraw(&raw)
        return tcsetattr(state.input, TCSANOW, &raw) == 0
    }

    private static func refusal(_ operation: String, _ code: Int32, _ advice: String) -> CommandFailure {
        CommandFailure(.usage, "cannot \(operation): \(String(cString: strerror(code)).lowercased()); \(advice)")
    }

    /// Does nothing unless armed.
    static func restore() {
        guard state.isArmed else { return }
        state.isArmed = false
        _ = write(state.output, state.farewell.baseAddress, state.farewell.count)
        // In the background the settings are those of the shell.
        if !isInBackground(state.input) { tcsetattr(state.input, TCSANOW, &state.attributes) }
    }

    /// Whether another process group has the terminal.
    static func isInBackground(_ terminal: Int32) -> Bool {
        let group = tcgetpgrp(terminal)
        return group > 0 && group != getpgrp()
    }
}
