import CommandSupport
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
    init(_ error: StoreError) {
        switch error.code {
        case .diskFull, .storage, .quotaExceeded, .tooManyKeys:
            self.init(.ioError, error.description)
        default: self.init(.unavailable, error.description)
        }
    }
}
