import Foundation

/// A regular file open for reading, valid only inside the closure that received it.
package struct OpenFile {
    package let path: String
    package let status: FileStatus
    /// The permission bits, 0o000 to 0o777.
    package let permissions: Int
    private let descriptor: Int32

    /// Opens without blocking: a pipe or a device is refused instead of waited for.
    static func read<Result>(
        _ path: String, followsLinks: Bool,
        _ body: (OpenFile) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = PathText.withCString(path) { open($0, flags) }
        guard descriptor >= 0 else {
            // How a socket answers.
            if errno == ENXIO { throw FileError(operation: "read", path: path, cause: .notAFile) }
            throw .current("open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .current("inspect", path) }
        let file = OpenFile(
            path: path, status: FileStatus(status), permissions: Int(status.st_mode & 0o777),
            descriptor: descriptor)
        guard file.status.kind == .file else {
            throw FileError(operation: "read", path: path, cause: .notAFile)
        }
        return try body(file)
    }

    /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
    package func bytes(at offset: Int64, count: Int) throws(FileError) -> [UInt8] {
        guard count > 0, offset >= 0 else { return [] }
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress! + filled, count - filled,
                    off_t(offset) + off_t(filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { code = errno }
                guard got > 0 else { return }
                filled += got
            }
        }
        guard code == 0 else { throw FileError(operation: "read", path: path, code: code) }
        return bytes
    }
}
