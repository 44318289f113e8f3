import KVStoreCore
import KVStoreLog
import LocalFiles

extension StoreError {
    init(_ error: LogError, operation: String) {
        switch error {
        case .storage(let failure) where failure.isOutOfSpace:
            self.init(
                .diskFull, operation: operation, subject: failure.path, reason: failure.message,
                hint: "free some space; nothing stored is lost")
        case .storage(let failure):
            self.init(
                .storage, operation: operation, subject: failure.path,
                reason: "\(failure.operation): \(failure.message)")
        case .damaged(let damage):
            self.init(
                .damaged, operation: operation, subject: damage.path,
                reason: "damaged at byte \(damage.offset): \(damage.detail)")
        case .incompatible(let path, _):
            self.init(
                .damaged, operation: operation, subject: path, reason: error.description, hint: "update this program")
        case .closedByFailure(let failure):
            self.init(.storage, operation: operation, subject: failure.path, reason: error.description)
        case .removed(let path):
            self.init(
                .storage, operation: operation, subject: path, reason: "the file was removed",
                hint: "open the store again")
        case .tooLarge, .needsSegment, .full, .accountFull, .tooManyStores:
            self.init(.storage, operation: operation, subject: "log", reason: error.description)
        }
    }

    package init(_ obstacle: PropertyListValue.Obstacle, key: String) {
        self.init(
            .invalidValue, operation: "set", subject: "key \(key)", reason: obstacle.description,
            hint: "encode it as Data first")
    }

    package init(_ error: SyncTransportError, operation: String, store: String) {
        let code: Code =
            switch error {
            case .unreachable, .busy, .malformed: .unreachable
            case .unauthorized: .unauthorized
            case .refused: .refused
            }
        let reason = code == .unauthorized ? Self.removalAdvice : error.description
        self.init(code, operation: operation, subject: "store \(store)", reason: reason)
    }
}
