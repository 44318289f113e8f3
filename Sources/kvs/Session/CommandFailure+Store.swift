import CommandSupport
import KVStore

extension CommandFailure {
    init(_ error: StoreError) { self.init(ExitStatus(error), error.description) }
}

extension ExitStatus {
    init(_ error: StoreError) {
        self =
            switch error.code {
            case .invalidKey, .invalidValue, .invalidStoreName: .usage
            case .quotaExceeded, .tooManyKeys: .dataError
            case .diskFull: .cannotCreate
            case .storage, .damaged, .closed: .ioError
            case .unreachable, .refused, .cancelled: .unavailable
            case .unauthorized: .noPermission
            }
    }

    init(_ error: SyncTransportError) {
        switch error {
        case .unauthorized: self = .noPermission
        case .refused(let status, _, _): self = status == 403 ? .noPermission : .unavailable
        case .unreachable, .busy, .malformed: self = .unavailable
        }
    }
}
