/// Stores and devices that see nothing of any other account.
package struct Account: Sendable, Equatable, Codable {
    package var name: String
    /// Milliseconds since 1970.
    package var created: Int64
    /// Memory of its records, measured like that of all; nil for no limit of its own.
    package var byteLimit: Int?
    /// Nil for the limit of every account.
    package var storeLimit: Int?
    /// When its removal began, in milliseconds since 1970. The entry stays until its stores are gone.
    package internal(set) var removed: Int64?

    package init(name: String, created: Int64, byteLimit: Int? = nil, storeLimit: Int? = nil, removed: Int64? = nil) {
        self.name = name
        self.created = created
        self.byteLimit = byteLimit
        self.storeLimit = storeLimit
        self.removed = removed
    }

    /// The account that exists without being added, and cannot be removed.
    package static let defaultName = "default"
}
