import Essentials

/// An exclusive advisory lock (`flock`) on a file of its own, which is created with mode 0600 and
/// removed by `remove` alone.
///
/// The lock belongs to this value: it excludes other processes and other values in this process,
/// and ends with `unlock`, with the value, or with the process. Locking twice changes nothing.
package final class FileLock: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Opens or creates the file without locking it; a symbolic link is refused.
    package init(_ path: String) throws(FileError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .current("open", path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Blocks the thread until the lock is free.
    package func lock() throws(FileError) {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .current("lock", path) }
        }
    }

    /// Returns false at once when another holds the lock.
    package func lockIfAvailable() throws(FileError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw .current("lock", path) }
        }
        return true
    }

    /// Runs `body`, in which programs that are started inherit the lock: it ends with the last of them.
    package func inherited<Result>(_ body: () throws -> Result) rethrows -> Result {
        _ = fcntl(descriptor, F_SETFD, 0)
        defer { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return try body()
    }

    /// Replaces what the file contains, for people and for `LocalFile`.
    package func write(_ text: String) throws(FileError) {
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count else {
            throw .current("write", path)
        }
    }

    /// Removes the file, as the last act of the one who has locked it. Only for locks that all others take by
    /// `LocalFile.lock()`, which then wait for a new one.
    package func remove() throws(FileError) { try LocalFile(path).remove(durability: .cached) }

    /// Whether the path still leads to this file.
    fileprivate var isInPlace: Bool {
        get throws(FileError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .current("inspect", path) }
            return try FileStatus(path: path, followsLinks: false)?.identity == FileStatus(status).identity
        }
    }

    package func unlock() { _ = flock(descriptor, LOCK_UN) }
}

extension LocalFile {
    /// The lock of those who read the file and then replace it, on a file with ".lock" after its name. Creates the
    /// directory, and blocks the thread until the lock is free.
    package func lock() throws(FileError) -> FileLock {
        try directory.create()
        while true {
            let lock = try FileLock(path + ".lock")
            try lock.lock()
            if try lock.isInPlace { return lock }
        }
    }
}
