// What commands that open stores share: exit statuses for the errors of stores, preferences that follow their user, and the
// devices of the account. Not here: the store, and any command.

package import CommandSupport
package import KVStoreEssentials
import LocalFiles

extension CommandFailure {
    /// Nil for errors that are neither the store's nor a file's.
    package init?(ofStore error: any Error) {
        switch error {
        case let error as StoreError: self.init(ExitStatus(error), error.description)
        case let error as FileError:
            self.init(error.isOutOfSpace ? .cannotCreate : .ioError, error.description)
        default: return nil
        }
    }
}

extension ExitStatus {
    package init(_ error: StoreError) {
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
}
