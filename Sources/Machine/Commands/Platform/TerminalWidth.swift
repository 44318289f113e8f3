import Essentials

package enum TerminalWidth {
    /// Columns of the terminal on standard output; nil when it is not a terminal.
    package static var ofOutput: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1,
            ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
    }
}
