/// Why a server cannot open its data, change its devices or listen.
///
/// ```swift
/// do throws(ServerError) {
///     try await StoreServer(configuration).run()
/// } catch {
///     print(error.code == .inUse ? "another server uses the directory" : error.description)
/// }
/// ```
public struct ServerError: Error, Sendable, Equatable {
    /// The kind of error, for programs to switch over.
    public enum Code: Sendable, Equatable {
        /// The data directory cannot be created.
        case cannotCreate
        /// Another server uses the data directory.
        case inUse
        /// A file cannot be read or written. Trying again may help.
        case storage
        /// A file is damaged or from a newer version.
        case unreadable
        /// The database cannot be reached or used. Trying again may help.
        case database
        /// All data of the database has moved to a data directory.
        case databaseMoved
        /// The address of the database is malformed, or its schema is from a newer version.
        case invalidDatabase
        /// A device cannot be added, is unknown, or is ambiguous.
        case invalidDevice
        /// An account cannot be added or removed, or is unknown.
        case invalidAccount
        /// A file is not a backup, or is damaged.
        case invalidBackup
        /// An authority cannot be made for the given hosts.
        case invalidAuthority
        /// The address cannot be listened on.
        case cannotListen
        /// The server has ended; start a new one.
        case ended
    }

    /// The kind of error.
    public let code: Code
    /// What failed, on which object, and why.
    public let message: String
    /// What the user can do.
    public let hint: String?

    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}

extension ServerError: CustomStringConvertible {
    /// The message and the hint.
    public var description: String { hint.map { "\(message); \($0)" } ?? message }
}
