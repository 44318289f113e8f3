import KVStore

/// What the command's exit status says; most numbers are those of sysexits.h.
enum ExitStatus: Int32, CaseIterable {
    case keyMissing = 1
    case usage = 64
    case data = 65
    case unavailable = 69
    case cannotCreate = 73
    case input = 74
    case notSent = 75
    case notPermitted = 77
    case notJoined = 78

    init(_ error: StoreError) {
        self =
            switch error.code {
            case .invalidKey, .invalidValue, .invalidStoreName: .usage
            case .quotaExceeded, .tooManyKeys: .data
            case .diskFull: .cannotCreate
            case .storage, .damaged, .closed: .input
            case .unreachable, .refused: .unavailable
            case .unauthorized: .notPermitted
            }
    }

    init(_ error: SyncTransportError) {
        switch error {
        case .unauthorized: self = .notPermitted
        case .refused(let status, _, _): self = status == 403 ? .notPermitted : .unavailable
        case .unreachable, .busy, .malformed: self = .unavailable
        }
    }
}

/// Ends a command with words on standard error.
struct CommandFailure: Error, Equatable {
    var status: ExitStatus
    /// Without the command's name, and not yet escaped.
    var message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: StoreError) { self.init(ExitStatus(error), error.description) }
}
