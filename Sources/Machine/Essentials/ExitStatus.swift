/// The exit statuses of all commands; those above 63 are the numbers of sysexits.h.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    case failure = 1
    case usage = 64
    case dataError = 65
    case noInput = 66
    case unavailable = 69
    case cannotCreate = 73
    case ioError = 74
    case temporaryFailure = 75
    case noPermission = 77
    case configuration = 78
}

/// An error that a command tells its user and ends with.
package protocol ReportableError: Error, CustomStringConvertible {
    var exitStatus: ExitStatus { get }
}
