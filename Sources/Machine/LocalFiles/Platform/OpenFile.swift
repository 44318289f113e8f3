import Essentials

/// A regular file open for reading, valid only inside the closure that received it.
package struct OpenFile: Sendable {
    package let path: String
    package let status: FileStatus
    let descriptor: Int32

    /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
    package func bytes(at offset: Int64, count: Int) throws(FileError) -> [UInt8] {
        try values(at: offset, count: count)
    }

    /// Reads up to `count` values, as they are in memory; fewer only at the end of the file.
    package func values<Value: BitwiseCopyable>(at offset: Int64, count: Int) throws(FileError) -> [Value] {
        try Self.values(descriptor, path, at: offset, count: count)
    }

    static func values<Value: BitwiseCopyable>(
        _ descriptor: Int32, _ path: String, at offset: Int64, count: Int
    ) throws(FileError) -> [Value] {
        guard count > 0, offset >= 0 else { return [] }
        var failure: FileError?
        let values = [Value](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FileError) {
                filled =
                    try read(descriptor, path, into: UnsafeMutableRawBufferPointer(buffer), at: offset)
                    / MemoryLayout<Value>.stride
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return values
    }

    /// Reads up to `bytes.count` bytes at `offset`, and returns how many; fewer only at the end of the file.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try Self.read(descriptor, path, into: bytes, at: offset)
    }

    /// Where the next bytes are that the file system has stored, at `offset` or later, or the end of the file: before
    /// that there are only zeros. Nil when it cannot tell.
    package func nextData(from offset: Int64) -> Int64? {
        let next = lseek(descriptor, off_t(offset), FileSystem.seekData)
        if next >= 0 { return Int64(next) }
        guard errno == ENXIO else { return nil }
        let end = lseek(descriptor, 0, SEEK_END)
        return end < off_t(offset) ? nil : Int64(end)
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

    static func read(
        _ descriptor: Int32, _ path: String, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FileError) -> Int {
        var filled = 0
        while filled < bytes.count {
            let got = pread(
                descriptor, bytes.baseAddress! + filled, bytes.count - filled, off_t(offset) + off_t(filled))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .current("read", path) }
            if got == 0 { break }
            filled += got
        }
        return filled
    }
}
