import Commands
import Dispatch
import Essentials

/// Reads standard input and passes it on to another program.
enum InputRelay {
    /// Reads standard input to its end, or its first `byteCount` bytes.
    static func read(upTo byteCount: Int) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while data.count < byteCount {
            let count = Essentials.read(STDIN_FILENO, &buffer, min(buffer.count, byteCount - data.count))
            if count < 0, errno == EINTR { continue }
            // What cannot be read ends the input.
            guard count > 0 else { break }
            data.append(contentsOf: buffer[..<count])
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
        guard var ends = PipeEnds() else { return nil }
        let shell = command.count == 1 ? ["-c"] : ["-c", "exec \"$@\"", "sh"]
        guard let child = ChildProcess("/bin/sh", arguments: shell + command, standardInput: ends.reading) else {
            ends.close()
            return nil
        }
        // Without waiting for the reader as much as the pipe holds, the rest in the background.
        ends.leaveReading()
        var rest = input
        ends.write(&rest)
        if !rest.isEmpty {
            DispatchQueue.global().async { [ends, rest] in
                var (ends, rest) = (ends, rest)
                _ = fcntl(ends.writing, F_SETFL, 0)
                ends.write(&rest)
            }
        }
        return child
    }
}
