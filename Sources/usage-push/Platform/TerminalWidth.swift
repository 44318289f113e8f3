import Foundation

/// How wide the output is.
enum TerminalWidth {
    /// Columns of the terminal that the output goes to; nil when it goes elsewhere.
    static var ofOutput: Int? {
        var size = winsize()
        guard isatty(STDOUT_FILENO) == 1,
            ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0
        else { return nil }
        return Int(size.ws_col)
    }
}
