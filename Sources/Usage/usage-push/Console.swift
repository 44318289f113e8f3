import Essentials
import Commands
import KVStore

extension Console {
    enum Volume: Int, Sendable, Comparable {
        case quiet
        case usual
        case verbose

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
}

extension CommandFailure {
    /// A push that could not be stored.
    static func push(_ error: StoreError) -> CommandFailure {
        switch error.code {
        case .diskFull, .storage, .quotaExceeded, .tooManyKeys:
            CommandFailure(.ioError, error.description)
        default: CommandFailure(.unavailable, error.description)
        }
    }
}
