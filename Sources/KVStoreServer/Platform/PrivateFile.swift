package import Foundation

/// A small file that only its owner may read, replaced as a whole.
package enum PrivateFile {
    /// What changes when a file is replaced.
    struct Signature: Sendable, Equatable {
        var device: UInt64
        var inode: UInt64
        var byteCount: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    package struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        package var operation: String
        package var path: String
        package var code: Int32
        package var message: String

        package var description: String { "could not \(operation) \(path): \(message)" }

        static func current(_ operation: String, _ path: String) -> Failure {
            let code = errno
            return Failure(
                operation: operation, path: path, code: code,
                message: String(cString: strerror(code)))
        }
    }

    /// Nil where there is no file.
    static func signature(_ path: String) -> Signature? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Signature(status)
    }

    /// The bytes together with the signature of the very file they came from; nil where there is
    /// none.
    static func read(
        _ path: String, byteCount limit: Int
    ) throws(Failure) -> (data: Data, signature: Signature)? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .current("open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .current("look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            throw Failure(
                operation: "read", path: path, code: EFBIG,
                message: "not a regular file of at most \(limit) bytes")
        }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while data.count <= limit {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
            } else if errno != EINTR {
                throw .current("read", path)
            }
        }
        return (data, Signature(status))
    }

    /// Through a temporary file beside it: a reader, or a power failure, meets the former file or
    /// the new one.
    package static func write(_ data: Data, to path: String) throws(Failure) {
        let temporary = "\(path).\(UInt32.random(in: 0...UInt32.max)).new"
        let descriptor = open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .current("create", temporary) }
        do throws(Failure) {
            defer { close(descriptor) }
            var rest = [UInt8](data)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.write(descriptor, $0.baseAddress, $0.count)
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    throw .current("write", temporary)
                }
            }
            guard fsync(descriptor) == 0 else { throw .current("sync", temporary) }
            guard rename(temporary, path) == 0 else { throw .current("put in place", path) }
        } catch {
            unlink(temporary)
            throw error
        }
        let folder = open(
            (path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .current("sync the folder of", path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .current("sync the folder of", path) }
    }
}

/// An exclusive lock of one process, held as long as the value lives.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Waits for other processes.
    init(_ path: String) throws(PrivateFile.Failure) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .current("open", path) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .current("lock", path) }
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
