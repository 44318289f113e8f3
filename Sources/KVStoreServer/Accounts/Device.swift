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
    var tokenSHA256: TokenDigest

    func maySee(store: String) -> Bool { stores?.contains(store) ?? true }

    /// One line of at most 64 bytes.
    static func isValidName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.printable(scalarLimit: 64) == name
            && name.first != " " && name.last != " "
    }

    static func isValidAccount(_ name: String) -> Bool {
        name.utf8.count <= 64 && StoreConfiguration.isValidStoreName(name)
    }
}

package enum DeviceScope: String, Sendable, CaseIterable, Codable {
    case read, write
}
