import Foundation
import TerminalText

/// The only place that writes to standard output and standard error, or reads standard input.
enum StandardStreams {
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Bytes as they are.
    static func write(_ data: Data) throws(CommandFailure) {
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                // Whoever read has seen enough.
                exit(0)
            } else if errno != EINTR {
                throw CommandFailure(.input, "standard output: \(systemMessage())")
            }
        }
    }

    /// A line of our own words.
    static func print(_ line: String) throws(CommandFailure) {
        try write(Data((line + "\n").utf8))
    }

    /// A line on standard error that starts with the command's name; escaped here, since it may hold
    /// words of others.
    static func note(_ text: String) {
        FileHandle.standardError.write(Data(("kvs: " + VisibleText.escape(text) + "\n").utf8))
    }

    /// Everything on standard input.
    static func readInput(byteCount limit: Int) throws(CommandFailure) -> Data {
        try read(STDIN_FILENO, "standard input", byteCount: limit)
    }

    static func readFile(_ path: String, byteCount limit: Int) throws(CommandFailure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.input, "open \(path): \(systemMessage())")
        }
        defer { close(descriptor) }
        return try read(descriptor, path, byteCount: limit)
    }

    /// Through a temporary file beside it, readable by its owner alone: values may be private.
    static func writeFile(_ data: Data, to path: String) throws(CommandFailure) {
        let temporary = "\(path).\(UInt32.random(in: 0...UInt32.max)).new"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(temporary, flags, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.cannotCreate, "create \(temporary): \(systemMessage())")
        }
        close(descriptor)
        do {
            let handle = try FileHandle(forWritingTo: URL(filePath: temporary))
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
        } catch {
            unlink(temporary)
            throw CommandFailure(.cannotCreate, "write \(path): \(error.localizedDescription)")
        }
        guard rename(temporary, path) == 0 else {
            let message = systemMessage()
            unlink(temporary)
            throw CommandFailure(.cannotCreate, "put \(path) in place: \(message)")
        }
    }

    /// A line from the terminal that is not shown while it is typed; nil at its end.
    static func readSecret(prompt: String) -> String? {
        FileHandle.standardError.write(Data(prompt.utf8))
        var former = termios()
        guard tcgetattr(STDIN_FILENO, &former) == 0 else { return nil }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return readLine(strippingNewline: true)
    }

    private static func read(
        _ descriptor: Int32, _ name: String, byteCount limit: Int
    ) throws(CommandFailure) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count == 0 { return data }
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
                guard data.count <= limit else {
                    throw CommandFailure(.data, "\(name) holds more than \(limit) bytes")
                }
            } else if errno != EINTR {
                throw CommandFailure(.input, "read \(name): \(systemMessage())")
            }
        }
    }

    private static func systemMessage() -> String { String(cString: strerror(errno)).lowercased() }
}
