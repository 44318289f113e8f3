import Essentials
import KVStoreEssentials
import KVStoreWire

/// A device that may use the server, and what it may do.
package struct Device: Sendable, Equatable, Codable {
    /// Sixteen lower-case hexadecimal digits, never issued twice.
    package var id: String
    package var name: String
    package var account: String
    package var scopes: [DeviceScope]
    /// The only stores that it sees; nil for all of its account.
    package var stores: [String]?
    /// Milliseconds since 1970.
    package var created: Int64
    package internal(set) var tokenSHA256: TokenDigest
    /// Stored only if true.
    var trusted: Bool?
    /// Stored only if true.
    var page: Bool?

    /// Whether it is a web page, whose browser keeps the token in two places.
    package var isPage: Bool { page ?? false }

    /// Whether its requests and live streams are not limited in number.
    package var isTrusted: Bool { trusted ?? false }

    package func maySee(store: String) -> Bool { stores?.contains(store) ?? true }

    /// Whether the other is the same device and may do the same; name and trust may differ.
    package func hasSamePermissions(as other: Device) -> Bool {
        (id, account, scopes, stores) == (other.id, other.account, other.scopes, other.stores)
    }

    /// One line of at most 64 bytes.
    static func isValidName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.printable(scalarLimit: 64) == name
            && name.first != " " && name.last != " "
    }

    package static func isValidAccount(_ name: String) -> Bool {
        name.utf8.count <= 64 && StoreConfiguration.isValidStoreName(name)
    }
}

package enum DeviceScope: String, Sendable, CaseIterable, Codable {
    case read, write
    /// Rename and remove the devices of the account, and pair others.
    case admin
}

/// What a new device may do.
package struct DevicePermissions: Sendable, Equatable {
    package var account: String
    /// Whether the server refuses writes of the device.
    package var isReadOnly: Bool
    /// The only stores that the device sees; nil for all of its account.
    package var stores: [String]?
    /// Whether the device may administer the devices of the account.
    package var isAdmin: Bool
    /// Whether its requests and live streams are not limited in number.
    package var isTrusted: Bool
    /// Whether the device is a web page.
    package var isPage: Bool

    package init(
        account: String = "default", isReadOnly: Bool = false, stores: [String]? = nil,
        isAdmin: Bool = false, isTrusted: Bool = false, isPage: Bool = false
    ) {
        self.account = account
        self.isReadOnly = isReadOnly
        self.stores = stores
        self.isAdmin = isAdmin
        self.isTrusted = isTrusted
        self.isPage = isPage
    }

    var scopes: [DeviceScope] {
        [.read] + (isReadOnly ? [] : [.write]) + (isAdmin ? [.admin] : [])
    }
}

extension Device {
    package init(
        id: String, name: String, account: String, scopes: [DeviceScope], stores: [String]?,
        created: Int64, tokenSHA256: TokenDigest, isTrusted: Bool, isPage: Bool
    ) {
        self.init(
            id: id, name: name, account: account, scopes: scopes, stores: stores, created: created,
            tokenSHA256: tokenSHA256, trusted: isTrusted ? true : nil, page: isPage ? true : nil)
    }

    package init(
        _ name: String, _ permissions: DevicePermissions, id: String, created: Int64, tokenSHA256: TokenDigest
    ) {
        self.init(
            id: id, name: name, account: permissions.account, scopes: permissions.scopes,
            stores: permissions.stores, created: created, tokenSHA256: tokenSHA256,
            trusted: permissions.isTrusted ? true : nil, page: permissions.isPage ? true : nil)
    }
}
