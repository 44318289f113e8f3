package import Essentials

/// Ends a command: `Console.exit` reports the message and exits with the status.
package struct CommandFailure: Error, Equatable, Sendable {
    package var status: ExitStatus
    /// Without the program's name, not yet escaped.
    package var message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    package init(_ error: some ReportableError) { self.init(error.exitStatus, error.description) }
}
