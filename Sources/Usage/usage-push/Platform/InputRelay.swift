import Commands
import Dispatch
import Foundation

/// Reads standard input and passes it on to another program.
enum InputRelay {
    /// Reads standard input to its end, or its first `byteCount` bytes.
    static func read(upTo byteCount: Int) -> Data {
        var data = Data()
        while data.count < byteCount,
            // What cannot be read ends the input.
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
