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
