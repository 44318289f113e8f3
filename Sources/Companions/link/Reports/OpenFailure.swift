import Essentials
import Commands

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
        guard let error = error as? any ReportableError, !(error is OutputError) else { return nil }
        let link = error as? LinkError
        (code, message, status) = (link?.code ?? "settings", error.description, error.exitStatus)
        if case .openFailed(.exited(_, let status)) = link { exitedStatus = status } else { exitedStatus = nil }
    }
}
