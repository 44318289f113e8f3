import Essentials

/// A new file under a name of its own, which is locked for as long as this value lives: one that is not locked was
/// abandoned by a process that has ended.
final class TemporaryFile: Sendable {
    let path: String
    let descriptor: Int32

    private static let prefix = ".ubiquity-"
    private static let suffix = ".tmp"

    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) && name.hasSuffix(suffix) }

    /// - Parameter target: the path of the file that it is to become, for errors.
    init(in directory: LocalDirectory, for target: String) throws(FileError) {
        while true {
            let number = String(UInt64.random(in: .min ... .max), radix: 16)
            let path = "\(directory.path)/\(Self.prefix)\(number)\(Self.suffix)"
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let descriptor = open(path, flags, 0o600)
            guard descriptor >= 0 else { throw .current("create a file beside", target) }
            // Until it was locked another process could take it for abandoned. Where there are no locks none does.
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            var status = stat()
            if isLocked, fstat(descriptor, &status) == 0, status.st_nlink > 0 {
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    /// Does nothing if it was renamed.
    func remove() { unlink(path) }
}

extension LocalDirectory {
    /// Removes the temporary files of `LocalFile` that processes have left here which were killed while they wrote.
    package func removeAbandonedFiles() throws(FileError) {
        for entry in try entries().entries where TemporaryFile.isName(entry.name) {
            let path = path + "/" + entry.name
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
        }
    }
}
