import Essentials

/// A file that is written at any offset, by several threads, and then thrown away or put in the place of another.
///
/// It is removed with the value, and its name after a crash by `LocalDirectory.removeAbandonedFiles`.
package final class ScratchFile: Sendable {
    private let temporary: TemporaryFile
    /// The file whose place it can take.
    private let path: String

    /// Creates it beside `file`, whose directory must exist, with mode 0600.
    package init(for file: LocalFile) throws(FileError) {
        path = file.path
        temporary = try TemporaryFile(in: file.directory, for: file.path)
    }

    deinit { temporary.remove() }

    /// Writes values as they are in memory.
    package func write<Value: BitwiseCopyable>(_ values: [Value], at offset: Int64) throws(FileError) {
        let isWritten = values.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = pwrite(
                    temporary.descriptor, bytes.baseAddress! + written, bytes.count - written,
                    off_t(offset) + off_t(written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
        guard isWritten else { throw .current("write", path) }
    }

    /// Reads up to `count` values; fewer only at the end of the file.
    package func values<Value: BitwiseCopyable>(at offset: Int64, count: Int) throws(FileError) -> [Value] {
        try OpenFile.values(temporary.descriptor, path, at: offset, count: count)
    }

    /// Puts the file in the place of the one that it was created for. A power failure may undo it.
    package func replaceFile() throws(FileError) { try LocalFile(temporary.path).rename(to: path) }
}
