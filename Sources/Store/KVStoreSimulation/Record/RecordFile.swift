package import Essentials
package import LocalFiles
import Synchronization

/// The file of a record, which grows with each step of what is recorded. A full disk or the limit ends the record. Safe
/// to call from any thread.
package final class RecordFile: Sendable {
    package static let byteLimit = 256 * 1_024 * 1_024

    private struct State {
        var descriptor: CInt?
        var byteCount = 0
    }

    private let path: String
    private let state: Mutex<State>

    /// Creates the file, or empties the one that is there; only its user can read it. A symbolic link is refused.
    package init(_ path: String) throws(FileError) {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == ELOOP
                ? FileError(operation: "create", path: path, cause: .notAFile) : .current("create", path)
        }
        do throws(FileError) {
            try Self.empty(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        state = Mutex(State(descriptor: descriptor))
    }

    /// Does nothing to a device or a pipe.
    private static func empty(_ descriptor: CInt, _ path: String) throws(FileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .current("inspect", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        guard fchmod(descriptor, 0o600) == 0 else { throw .current("protect", path) }
        guard ftruncate(descriptor, 0) == 0 else { throw .current("empty", path) }
    }

    deinit { state.withLock { if let descriptor = $0.descriptor { _ = close(descriptor) } } }

    /// Writes whole lines, unless the record has ended.
    ///
    /// - Returns: a sentence if the record ends here, early.
    package func write(_ lines: Data) -> String? {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return nil }
            state.byteCount += lines.count
            var reason: String?
            if state.byteCount > Self.byteLimit {
                reason = "it would exceed \(Self.byteLimit >> 20) MiB"
            } else if !Self.write(lines, to: descriptor) {
                reason = String(cString: strerror(errno)).lowercased()
            }
            guard let reason else { return nil }
            _ = close(descriptor)
            state.descriptor = nil
            return "the record \(path) ends early: \(reason)"
        }
    }

    private static func write(_ lines: Data, to descriptor: CInt) -> Bool {
        lines.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Essentials.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
