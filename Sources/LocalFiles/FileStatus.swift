package import Foundation

/// What `stat` says about a file or directory.
///
/// Two equal statuses of one path mean that the file was neither replaced nor written in between,
/// as far as the resolution of the file system's clock goes.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case file
        case directory
        /// Only in a status taken without following links.
        case link
        /// A pipe, socket or device.
        case other
    }

    /// The same for all names of one file or directory.
    package struct Identity: Sendable, Hashable {
        package var device: UInt64
        package var inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    package var kind: Kind
    package var identity: Identity
    package var byteCount: Int64
    /// Nanoseconds since 1970.
    package var modified: Int64

    package init(kind: Kind, identity: Identity, byteCount: Int64, modified: Int64) {
        self.kind = kind
        self.identity = identity
        self.byteCount = byteCount
        self.modified = modified
    }

    package var modificationDate: Date { Date(timeIntervalSince1970: Double(modified) / 1e9) }
}
