/// The one error of the public API: what was tried, where, why it failed and what to do next.
public struct StoreError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// The value, or the total with it, is larger than the quota.
        case quotaExceeded
        /// The store holds as many keys as it may.
        case tooManyKeys
        /// The key is empty or too long.
        case invalidKey
        /// The value is not a property list.
        case invalidValue
        /// The store's name is not one.
        case invalidStoreName
        /// No space, quota or inodes left.
        case diskFull
        /// Reading or writing the replica failed.
        case storage
        /// The replica's files are damaged, or of a newer version.
        case damaged
        /// The daemon cannot be reached.
        case unreachable
        /// The daemon refused the token, or no account has been joined.
        case unauthorized
        /// The daemon refused the request.
        case refused
        /// The store has been closed.
        case closed
    }

    public var code: Code
    /// What was being done: "set", "open", "synchronize".
    public var operation: String
    /// The key, file or address concerned.
    public var subject: String
    public var reason: String
    /// What a person can do about it.
    public var hint: String?

    public init(
        _ code: Code, operation: String, subject: String, reason: String, hint: String? = nil
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.reason = reason
        self.hint = hint
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        "\(operation) \(subject): \(reason)" + (hint.map { " (\($0))" } ?? "")
    }
}

extension StoreError {
    init(_ error: LogError, operation: String) {
        switch error {
        case .storage(let failure) where failure.isOutOfSpace:
            self.init(
                .diskFull, operation: operation, subject: failure.path, reason: failure.message,
                hint: "free some space; nothing that was stored is lost")
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
                .damaged, operation: operation, subject: path, reason: error.description,
                hint: "update this program")
        case .closedByFailure(let failure):
            self.init(
                .storage, operation: operation, subject: failure.path, reason: error.description)
        case .removed(let path):
            self.init(
                .storage, operation: operation, subject: path, reason: "the file was removed",
                hint: "open the store again")
        case .tooLarge:
            self.init(
                .storage, operation: operation, subject: "log", reason: error.description)
        }
    }

    package init(_ error: SyncTransportError, operation: String, store: String) {
        let code: Code =
            switch error {
            case .unreachable, .busy, .malformed: .unreachable
            case .unauthorized: .unauthorized
            case .refused: .refused
            }
        self.init(code, operation: operation, subject: "store \(store)", reason: error.description)
    }
}
