package import Essentials

/// Ends a command with a status and a message of its own.
package struct CommandFailure: ReportableError, Equatable {
    package var status: ExitStatus
    /// Without the program's name, not yet escaped.
    package var message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    package var exitStatus: ExitStatus { status }
    package var description: String { message }

    /// Does something, an error of which ends the command with another status than its own.
    package static func ending<Value, Failure: ReportableError>(
        _ status: ExitStatus, _ body: () throws(Failure) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(Failure) { return try body() } catch { throw CommandFailure(status, error.description) }
    }
}
