package import Essentials

/// The error of the public API: what failed, on which object, why, and what to do.
///
/// ```swift
/// do throws(StoreError) {
///     try store.write(.string("dark"), forKey: "theme")
/// } catch {
///     print(error.code == .quotaExceeded ? "too much is stored" : error.description)
/// }
/// ```
public struct StoreError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// The value, or the total with it, exceeds the quota.
        case quotaExceeded
        /// The store holds the maximum number of keys.
        case tooManyKeys
        /// The key is empty or too long.
        case invalidKey
        /// The value is not a property list.
        case invalidValue
        /// The store name is invalid.
        case invalidStoreName
        /// No space, quota or inodes left.
        case diskFull
        /// Reading or writing the replica failed.
        case storage
        /// The replica's files are damaged, or of a newer version.
        case damaged
        /// The daemon cannot be reached.
        case unreachable
        /// The daemon rejected the token, or no account has been joined.
        case unauthorized
        /// The daemon rejected the request.
        case refused
        /// A sealed value was changed or moved by someone without its key, or an older one was put back.
        case notAuthentic
        /// This device lacks the content key of a sealed value.
        case noContentKey
        /// The calling task was cancelled.
        case cancelled
        /// The store has been closed.
        case closed
    }

    public var code: Code
    /// The operation that failed: "set", "open", "synchronize".
    public var operation: String
    /// The key, file or address concerned.
    public var subject: String
    public var reason: String
    /// What the user can do about it.
    public var hint: String?

    public init(_ code: Code, operation: String, subject: String, reason: String, hint: String? = nil) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.reason = reason
        self.hint = hint
    }
}

extension StoreError {
    /// How a machine joins, also one that was removed, in the words of every program.
    package static let rejoining = "ubq join LINE, with a new line of ubq up (or kvsd pair) where the daemon runs"
    /// What it means that the daemon rejects the token of a joined device, and what to do.
    package static let removalAdvice =
        "this device was removed from its account, or its token is no longer valid; to join again: " + rejoining
}

extension StoreError: ReportableError {
    package var exitStatus: ExitStatus {
        switch code {
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

extension StoreError: CustomStringConvertible {
    public var description: String {
        "\(operation) \(subject): \(reason)" + (hint.map { " (\($0))" } ?? "")
    }
}
