import Foundation

/// A regular file open for reading at any offset.
///
/// Opened without blocking, so that a pipe or a device under the expected name is refused instead
/// of being waited for. Valid only inside the closure that received it.
struct ReadOnlyFile {
    let facts: FileFacts
    private let descriptor: Int32

    /// - Parameter followsLink: false where the last part of the path must not be a link.
    static func withOpen<Result>(
        _ path: String, followsLink: Bool = true, _ body: (ReadOnlyFile) -> Result
    ) throws(FileTrouble) -> Result {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags)
        guard descriptor >= 0 else { throw FileTrouble(code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileTrouble(code: errno) }
        let facts = FileFacts(status)
        guard facts.kind == .file else { throw .wrongKind }
        return body(ReadOnlyFile(facts: facts, descriptor: descriptor))
    }

    /// Reads up to `count` bytes at `offset`; fewer at the end of the file, none after an error.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard count > 0, offset >= 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress! + filled, count - filled,
                    off_t(offset) + off_t(filled))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { return }
                filled += got
            }
        }
    }
}
