import Essentials
import LocalFiles

/// A segment's file.
final class FileLogFile: LogFile {
    let byteCount: Int
    let descriptor: Descriptor

    init(_ descriptor: Descriptor) throws(FileError) {
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else {
            throw .current("inspect", path: descriptor.path)
        }
        byteCount = Int(status.st_size)
        self.descriptor = descriptor
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count {
            let done = pread(descriptor.raw, buffer.baseAddress! + count, buffer.count - count, off_t(offset + count))
            if done == 0 { break }
            if done > 0 {
                count += done
            } else if errno != EINTR {
                throw .current("read", path: descriptor.path)
            }
        }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        var count = 0
        while count < bytes.count {
            let done = pwrite(descriptor.raw, bytes.baseAddress! + count, bytes.count - count, off_t(offset + count))
            if done > 0 {
                count += done
            } else if done == 0 || errno != EINTR {
                throw .current("write", path: descriptor.path)
            }
        }
    }

    func sync() throws(FileError) {
        // Not repeated on EINTR: a second call does not report what a failed first one left unwritten.
        guard System.syncData(descriptor.raw) == 0 else {
            throw .current("sync", path: descriptor.path)
        }
    }

    func discardCache() { System.discardCache(descriptor.raw) }
}

/// An open file, closed with its last reference.
final class Descriptor: @unchecked Sendable {
    let raw: Int32
    /// Set only before the descriptor is shared.
    var path: String

    init(opening path: String, flags: Int32) throws(FileError) {
        raw = Essentials.open(path, flags | O_CLOEXEC)
        self.path = path
        guard raw >= 0 else { throw .current("open", path: path) }
    }

    init(opening name: String, in directory: Descriptor, root: String, flags: Int32) throws(FileError) {
        raw = openat(directory.raw, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        path = root + "/" + name
        guard raw >= 0 else { throw .current("open", path: path) }
    }

    deinit { if raw >= 0 { close(raw) } }

    func inode() throws(FileError) -> UInt64 {
        var status = stat()
        guard fstat(raw, &status) == 0 else { throw .current("inspect", path: path) }
        return UInt64(status.st_ino)
    }
}

extension FileError {
    /// The error that `errno` describes.
    static func current(_ operation: String, path: String) -> FileError {
        FileError(operation: operation, path: path, code: errno)
    }
}
