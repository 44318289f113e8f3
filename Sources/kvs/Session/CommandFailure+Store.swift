import CommandSupport
import KVStoreDocuments
import KVStoreEssentials
import KVStoreHTTP

extension CommandFailure {
    /// Nil for errors that are not the store's.
    init?(_ error: any Error) {
        switch error {
        case let error as StoreError: self.init(ExitStatus(error), error.description)
        case let error as DocumentError: self.init(.dataError, error.description)
        case let error as CredentialsError: self.init(.usage, error.description)
        default: return nil
        }
    }
}

extension ExitStatus {
    init(_ error: StoreError) {
        self =
            switch error.code {
            case .invalidKey, .invalidValue, .invalidStoreName: .usage
            case .quotaExceeded, .tooManyKeys, .notAuthentic: .dataError
            case .diskFull: .cannotCreate
            case .storage, .damaged, .closed: .ioError
            case .unreachable, .refused, .cancelled: .unavailable
            case .unauthorized: .noPermission
            case .noContentKey: .configuration
            }
    }

    init(_ error: SyncTransportError) {
        switch error {
        case .unauthorized, .refused(status: 403, _, _), .refused(status: 410, _, _):
            self = .noPermission
        case .refused, .unreachable, .busy, .malformed: self = .unavailable
        }
    }
}
