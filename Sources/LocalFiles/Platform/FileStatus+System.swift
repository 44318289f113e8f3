import Foundation

extension FileStatus {
    /// Nil when there is nothing at the path.
    package init?(path: String, followsLinks: Bool = true) throws(FileError) {
        var status = stat()
        let result = PathText.withCString(path) {
            followsLinks ? stat($0, &status) : lstat($0, &status)
        }
        guard result == 0 else {
            let error = FileError.current("inspect", path)
            if error.isMissing { return nil }
            throw error
        }
        self.init(status)
    }

    init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        let modified = FileSystem.modificationTime(of: status)
        self.init(
            kind: kind,
            identity: Identity(
                device: UInt64(truncatingIfNeeded: status.st_dev),
                inode: UInt64(truncatingIfNeeded: status.st_ino)),
            byteCount: Int64(status.st_size),
            modified: Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec))
    }
}

extension FileError {
    /// The error that `errno` names; to be created right after the failed call.
    static func current(_ operation: String, _ path: String) -> FileError {
        FileError(operation: operation, path: path, code: errno)
    }
}
