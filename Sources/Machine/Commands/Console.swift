// What every program needs around its command: standard streams, JSON output, exit statuses,
// signals, deadlines and child processes. Not here: the formatting of text (TerminalText) and any
// command.

package import Essentials
import Synchronization
package import TerminalText

/// Standard output and standard error of the process. Only this type writes to them.
///
/// Output that cannot be written throws, and `exit` turns the error into an exit status. A diagnostic that
/// cannot be written is dropped: no command fails because its standard error is closed or full.
///
/// Safe to call from any thread; a call blocks while a slow reader catches up.
package enum Console {
    private static let program = Mutex("")
    private static let ignoredPipes = Atomic(false)

    /// Makes failing output an error instead of a signal or a stray write into another file. Call it first in
    /// `main`, before anything opens a file.
    ///
    /// Child processes still get the default action for SIGPIPE.
    ///
    /// - Parameter program: the name that starts every diagnostic.
    package static func start(program: String) {
        self.program.withLock { $0 = program }
        Descriptor.occupyClosedStandardDescriptors()
        if sigaction.isIgnored(SIGPIPE) { ignoredPipes.store(true, ordering: .relaxed) }
        // Unlike SIG_IGN, a handler is not inherited by the programs that this one runs.
        signal(SIGPIPE) { _ in }
    }

    /// Handles SIGPIPE as before `start` and blocks no signal until `body` returns, for a program that takes the place
    /// of this one: it inherits what the calling thread blocks, which is most signals in threads of Swift's tasks.
    /// Keeps `errno`.
    static func withInheritedSignals(_ body: () -> Void) {
        var (unblocked, former) = (sigset_t(), sigset_t())
        sigemptyset(&unblocked)
        signal(SIGPIPE, ignoredPipes.load(ordering: .relaxed) ? SIG_IGN : SIG_DFL)
        pthread_sigmask(SIG_SETMASK, &unblocked, &former)
        body()
        let code = errno
        pthread_sigmask(SIG_SETMASK, &former, nil)
        signal(SIGPIPE) { _ in }
        errno = code
    }

    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    package static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    package static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal that standard output is; nil if it is not one.
    package static var outputColumns: Int? { outputSize?.columns }
    /// Nil unless standard output is a terminal.
    package static var outputSize: ScreenSize? {
        Descriptor.terminalSize(of: STDOUT_FILENO).map {
            ScreenSize(columns: $0.columns, rows: $0.rows > 0 ? $0.rows : nil)
        }
    }

    /// Writes bytes unchanged to standard output.
    package static func write(_ data: Data) throws(OutputError) { try Descriptor.write(data, to: STDOUT_FILENO) }

    /// Writes a line to standard output. Not escaped.
    package static func print(_ line: String) throws(OutputError) { try write(Data((line + "\n").utf8)) }

    /// Writes a diagnostic that starts with the program's name to standard error, escaped, at most 40 lines.
    package static func report(_ text: String) {
        let program = program.withLock { $0 }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(40)
        note("\(program): " + lines.map { VisibleText.escape(String($0)) }.joined(separator: "\n"))
    }

    /// Writes text to standard error. Not escaped.
    package static func note(_ text: String, terminator: String = "\n") {
        // A reader that has stopped must not stop the program too.
        try? Descriptor.write(Data((text + terminator).utf8), to: STDERR_FILENO, timeout: .seconds(1))
    }

    /// Writes a line to standard output and, if that is a terminal, its QR code.
    package static func printScannable(_ line: String) throws(OutputError) {
        try print(line)
        guard isOutputTerminal, let code = QRCode(line) else { return }
        try printQRCode(code)
    }

    /// Prints a QR code, unless the terminal is too narrow: what a line wraps cannot be scanned.
    package static func printQRCode(_ code: QRCode) throws(OutputError) {
        if let width = outputColumns, width < code.columnCount {
            return note("The QR code needs \(code.columnCount) columns, and this terminal has \(width).")
        }
        try print("\n" + code.text)
    }

    /// Asks on standard error and reads the answer from standard input; anything but "y" or "yes" is a no.
    package static func confirm(_ question: String) -> Bool {
        note(question + " [y/N] ", terminator: "")
        let answer = readLine()?.trimmed().lowercased()
        return answer == "y" || answer == "yes"
    }

    /// Asks whether to do what has been shown; throws a usage error where nobody can be asked.
    ///
    /// - Parameter verb: what is asked for, such as "repair".
    package static func confirm(verb: String) throws(CommandFailure) -> Bool {
        guard isInputTerminal else { throw CommandFailure(.usage, "nothing was changed; add --yes to \(verb)") }
        return confirm("\(verb.prefix(1).uppercased() + verb.dropFirst())?")
    }

    /// Ends the process after an error.
    ///
    /// A `ReportableError` exits with its own status, or silently with success when the reader has closed the pipe.
    ///
    /// - Parameters:
    ///   - message: the text for any other error; with status 0 (help, version) it goes to standard output.
    ///   - status: the exit status for any other error.
    package static func exit(for error: any Error, message: String, status: Int32) -> Never {
        var status = status
        switch error {
        case let error as OutputError where error.isClosedPipe: status = 0
        case let error as any ReportableError:
            report(error.description)
            status = error.exitStatus.rawValue
        case _ where message.isEmpty: break
        case _ where status == 0:
            do throws(OutputError) {
                try print(message)
            } catch {
                exit(for: error, message: "", status: 0)
            }
        // The parser quotes arguments as they were given, however long they are.
        default: report(String(message.trimmingPrefix("Error: ").prefix(4_000)).hidingLogins)
        }
        Essentials.exit(status)
    }
}
