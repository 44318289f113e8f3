package import Foundation
import Synchronization

/// Standard output and standard error of the process. Only this type writes to them.
///
/// Output that cannot be written throws, and `exit` turns the error into an exit status. A diagnostic that
/// cannot be written is dropped: no command fails because its standard error is closed or full.
///
/// Safe to call from any thread; a call blocks while a slow reader catches up.
package enum Console {
    private struct Settings {
        var program = ""
        var escape: @Sendable (String) -> String = { $0 }
    }

    private static let settings = Mutex(Settings())

    /// Makes failing output an error instead of a signal or a stray write into another file. Call it first in
    /// `main`, before anything opens a file.
    ///
    /// Child processes still get the default action for SIGPIPE.
    ///
    /// - Parameters:
    ///   - program: the name that starts every diagnostic.
    ///   - escape: makes one line of a diagnostic safe to show on a terminal.
    package static func start(
        program: String, escaping escape: @escaping @Sendable (String) -> String
    ) {
        settings.withLock { $0 = Settings(program: program, escape: escape) }
        Descriptor.occupyClosedStandardDescriptors()
        // Unlike SIG_IGN, a handler is not inherited by the programs that this one runs.
        signal(SIGPIPE) { _ in }
    }

    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    package static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The width of the terminal that standard output is; nil if it is not one.
    package static var outputColumns: Int? { Descriptor.terminalSize(of: STDOUT_FILENO)?.columns }

    /// Writes bytes unchanged to standard output.
    package static func write(_ data: Data) throws(OutputError) {
        try Descriptor.write(data, to: STDOUT_FILENO)
    }

    /// Writes a line to standard output. Not escaped.
    package static func print(_ line: String) throws(OutputError) {
        try write(Data((line + "\n").utf8))
    }

    /// Writes a diagnostic that starts with the program's name to standard error, escaped, at most 40 lines.
    package static func report(_ text: String) {
        let (program, escape) = settings.withLock { ($0.program, $0.escape) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(40)
        note("\(program): " + lines.map { escape(String($0)) }.joined(separator: "\n"))
    }

    /// Writes text to standard error. Not escaped.
    package static func note(_ text: String, terminator: String = "\n") {
        // A reader that has stopped must not stop the program too.
        try? Descriptor.write(
            Data((text + terminator).utf8), to: STDERR_FILENO, timeout: .seconds(1))
    }

    /// Ends the process after an error.
    ///
    /// `OutputError` exits with `ioError`, or silently with success when the reader has closed the pipe;
    /// `CommandFailure` with its own status.
    ///
    /// - Parameters:
    ///   - message: the text for any other error; with status 0 (help, version) it goes to standard output.
    ///   - status: the exit status for any other error.
    package static func exit(
        for error: any Error, message: @autoclosure () -> String, status: @autoclosure () -> Int32
    ) -> Never {
        switch error {
        case let error as OutputError where error.isClosedPipe: Foundation.exit(0)
        case let error as OutputError:
            report(error.description)
            Foundation.exit(ExitStatus.ioError.rawValue)
        case let failure as CommandFailure:
            report(failure.message)
            Foundation.exit(failure.status.rawValue)
        default: exit(message(), status: status())
        }
    }

    private static func exit(_ message: String, status: Int32) -> Never {
        if message.isEmpty { Foundation.exit(status) }
        guard status == 0 else {
            report(String(message.trimmingPrefix("Error: ")))
            Foundation.exit(status)
        }
        do throws(OutputError) {
            try print(message)
        } catch {
            exit(for: error, message: "", status: 0)
        }
        Foundation.exit(0)
    }
}
