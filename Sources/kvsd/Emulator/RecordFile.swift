import CommandSupport
import Essentials
import Synchronization

/// The file of a session's record, which grows with each step. A full disk or the limit ends the record, not the session. Safe
/// to call from any thread.
final class RecordFile: Sendable {
    static let byteLimit = 256 * 1_024 * 1_024

    private struct State {
        var descriptor: CInt?
        var byteCount = 0
    }

    private let path: String
    private let state: Mutex<State>

    /// Replaces a file that is there.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate,
                "cannot create \(path): \(String(cString: strerror(errno)).lowercased())")
        }
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { state.withLock { if let descriptor = $0.descriptor { _ = close(descriptor) } } }

    /// Writes whole lines.
    func write(_ lines: Data) {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            state.byteCount += lines.count
            var reason: String?
            if state.byteCount > Self.byteLimit {
                reason = "it would exceed \(Self.byteLimit >> 20) MiB"
            } else if !Self.write(lines, to: descriptor) {
                reason = String(cString: strerror(errno)).lowercased()
            }
            guard let reason else { return }
            Console.report("the record \(path) ends early: \(reason)")
            _ = close(descriptor)
            state.descriptor = nil
        }
    }

    private static func write(_ lines: Data, to descriptor: CInt) -> Bool {
        lines.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Essentials.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
