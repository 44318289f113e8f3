import Essentials

/// A regular file open for reading, valid only inside the closure that received it.
package struct OpenFile {
    package let path: String
    package let status: FileStatus
    let descriptor: Int32

    /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
    package func bytes(at offset: Int64, count: Int) throws(FileError) -> [UInt8] {
        guard count > 0, offset >= 0 else { return [] }
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            code = read(UnsafeMutableRawBufferPointer(buffer), at: offset, filled: &filled)
        }
        guard code == 0 else { throw FileError(operation: "read", path: path, code: code) }
        return bytes
    }

    /// Fills `buffer` from `offset` on; returns how many bytes there were, fewer only at the end of the file.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FileError) -> Int {
        var filled = 0
        let code = read(buffer, at: offset, filled: &filled)
        guard code == 0 else { throw FileError(operation: "read", path: path, code: code) }
        return filled
    }

    /// The file's status at this moment; `status` is that of its opening.
    package func currentStatus() throws(FileError) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .current("inspect", path) }
        return FileStatus(status)
    }

    /// Whether another process holds a POSIX record lock on the byte at `offset`. Takes no lock.
    package func isLockedElsewhere(at offset: Int64) throws(FileError) -> Bool {
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(offset)
        range.l_len = 1
        guard fcntl(descriptor, F_GETLK, &range) == 0 else { throw .current("inspect", path) }
        return range.l_type != Int16(F_UNLCK)
    }

    /// Returns an errno, 0 without an error.
    private func read(
        _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, filled: inout Int
    ) -> Int32 {
        while filled < buffer.count {
            let got = pread(
                descriptor, buffer.baseAddress! + filled, buffer.count - filled,
                off_t(offset) + off_t(filled))
            if got < 0, errno == EINTR { continue }
            if got < 0 { return errno }
            if got == 0 { break }
            filled += got
        }
        return 0
    }
}
