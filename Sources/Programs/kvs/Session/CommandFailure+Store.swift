import CommandSupport
import KVStoreDocuments
import KVStoreEssentials
import KVStoreHTTP
import StoreCommands

extension CommandFailure {
    /// Nil for errors that are not the store's.
    init?(_ error: any Error) {
        switch error {
        case let error as DocumentError: self.init(.dataError, error.description)
        case let error as CredentialsError: self.init(.usage, error.description)
        default: self.init(ofStore: error)
        }
    }
}

extension ExitStatus {
    init(_ error: SyncTransportError) {
        switch error {
        case .unauthorized, .refused(status: 403, _, _), .refused(status: 410, _, _):
            self = .noPermission
        case .refused, .unreachable, .busy, .malformed: self = .unavailable
        }
    }
}
