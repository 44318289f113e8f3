import Essentials
import Commands
import KVStoreHTTP

/// An error of opening a link, for its user, the log and the exit status. Contains nothing of the link.
struct OpenFailure {
    /// The name in the log.
    let code: String
    let message: String
    let status: ExitStatus
    /// That of the program that failed.
    let exitedStatus: Int32?

    /// Nil for errors of the output.
    init?(_ error: any Error) {
        guard let error = error as? LinkError else {
            guard let error = error as? any ReportableError else { return nil }
            (code, message, status) = ("settings", error.description, error.exitStatus)
            exitedStatus = nil
            return
        }
        code = error.code
        message = error.message(program: ProgramName.text)
        status =
            switch error {
            case .openFailed(.noCommand), .openFailed(.commandLoop), .openFailed(.loop),
                .openFailed(.chain):
                .configuration
            case .openFailed: .unavailable
            default: .dataError
            }
        if case .openFailed(.exited(_, let status)) = error {
            exitedStatus = status
        } else {
            exitedStatus = nil
        }
    }
}
