/// What a terminal tells the viewer.
enum TerminalEvent: Sendable, Equatable {
    case bytes([UInt8])
    case resized
}

/// A terminal held in raw mode on its alternate screen.
///
/// From opening to closing the terminal belongs to the session. It is given back by `close()`, by
/// the process exiting, and by every signal that ends the process, a crash included; then the
/// signal has its usual effect. At most one session per process is open.
protocol TerminalSession: Sendable {
    /// Keys and resizes, in order; ends when the terminal is gone. One consumer.
    var events: AsyncStream<TerminalEvent> { get }
    /// The size now; a usual one where the terminal does not say.
    var size: ScreenSize { get }
    /// Writes all of `text` or gives up when the terminal is gone.
    func write(_ text: String)
    /// Restores the terminal. May be called more than once.
    func close()
}

/// Why a live screen cannot be opened.
enum TerminalError: Error, Equatable, CustomStringConvertible {
    case notATerminal
    case alreadyOpen
    case refused(operation: String, errno: Int32)

    var description: String {
        switch self {
        case .notATerminal:
            "--watch needs a terminal for input and output: print once without --watch"
        case .alreadyOpen:
            "the terminal is already in use by this process"
        case .refused(let operation, let errno):
            "the terminal refused \(operation) (errno \(errno)): print once without --watch"
        }
    }
}
