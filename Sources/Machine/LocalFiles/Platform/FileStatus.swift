package import Essentials

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
    /// The permission bits, 0o000 to 0o777.
    package var permissions: Int
    /// Whether a file in this directory can only be replaced by its owner.
    package var isSticky: Bool
    package var identity: Identity
    /// The user's id.
    package var owner: UInt32
    package var byteCount: Int64
    /// Nanoseconds since 1970.
    package var modified: Int64

    /// Nil when there is nothing at the path.
    package init?(path: String, followsLinks: Bool = true) throws(FileError) {
        var status = stat()
        let result = PathText.withCString(path) { followsLinks ? stat($0, &status) : lstat($0, &status) }
        guard result == 0 else {
            let error = FileError.current("inspect", path)
            if error.isMissing { return nil }
            throw error
        }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        permissions = Int(status.st_mode & 0o777)
        isSticky = kind == .directory && status.st_mode & 0o1000 != 0
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino))
        owner = status.st_uid
        byteCount = Int64(status.st_size)
        let time = FileSystem.modificationTime(of: status)
        modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    package var modificationDate: Date { Date(timeIntervalSince1970: Double(modified) / 1e9) }
}
