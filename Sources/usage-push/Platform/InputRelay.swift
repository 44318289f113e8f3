import Foundation

/// Reads standard input and passes it on to another program.
enum InputRelay {
    /// Reads standard input to its end, or its first `byteCount` bytes.
    static func read(upTo byteCount: Int) -> Data {
        var data = Data()
        while data.count < byteCount,
            let part = try? FileHandle.standardInput.read(
                upToCount: min(65_536, byteCount - data.count)), !part.isEmpty
        {
            data.append(part)
        }
        return data
    }

    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Runs a program with `input` as its standard input, and this program's output and errors.
    /// Returns when it has ended; false when it could not be started.
    ///
    /// The input is an unlinked file, so a program that does not read it all blocks nothing. A
    /// single argument is run by the shell, several are a program and its arguments.
    static func run(_ command: [String], input: Data) -> Bool {
        guard let file = tmpfile() else { return false }
        defer { fclose(file) }
        let count = input.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard count == input.count, fflush(file) == 0, fseek(file, 0, SEEK_SET) == 0 else {
            return false
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            command.count == 1 ? ["-c"] + command : ["-c", "exec \"$@\"", "sh"] + command
        process.standardInput = FileHandle(fileDescriptor: fileno(file), closeOnDealloc: false)
        do {
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return true
    }
}
