import Commands
import Dispatch
import Foundation

/// Reads standard input and passes it on to another program.
enum InputRelay {
    /// Reads standard input to its end, or its first `byteCount` bytes.
    static func read(upTo byteCount: Int) -> Data {
        var data = Data()
        while data.count < byteCount,
            let part = try? FileHandle.standardInput.read(upToCount: min(65_536, byteCount - data.count)), !part.isEmpty
        {
            data.append(part)
        }
        return data
    }

    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Starts a program with `input` as its standard input, and this program's output and errors;
    /// nil when it cannot be started. To be followed by `ChildProcess.wait`.
    ///
    /// The input goes through a pipe. SIGPIPE must not end this program: the other one need not
    /// read it all. A single argument is run by the shell, several are a program and its arguments.
    static func start(_ command: [String], input: Data) -> ChildProcess? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        // The child gets a copy of one end and must not keep the other one open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let shell = command.count == 1 ? ["-c"] : ["-c", "exec \"$@\"", "sh"]
        guard let child = ChildProcess("/bin/sh", arguments: shell + command, standardInput: ends[0]) else {
            close(ends[1])
            return nil
        }
        feed(ends[1], input)
        return child
    }

    /// Writes without waiting for the reader as much as the pipe holds, the rest in the background.
    private static func feed(_ descriptor: Int32, _ input: Data) {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let rest = write(input, to: descriptor)
        guard !rest.isEmpty else {
            close(descriptor)
            return
        }
        _ = fcntl(descriptor, F_SETFL, flags)
        DispatchQueue.global().async {
            _ = write(rest, to: descriptor)
            close(descriptor)
        }
    }

    /// Returns what a full pipe does not accept; nothing when the reader is gone.
    private static func write(_ input: Data, to descriptor: Int32) -> Data {
        var rest = input
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                return rest
            } else if errno != EINTR {
                return Data()
            }
        }
        return rest
    }
}
