import CommandSupport
import Foundation

/// Reads standard input, and reads and writes files.
enum StandardStreams {
    static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Everything on standard input.
    static func readInput(byteCount limit: Int) throws(CommandFailure) -> Data {
        try read(STDIN_FILENO, "standard input", byteCount: limit)
    }

    static func readFile(_ path: String, byteCount limit: Int) throws(CommandFailure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.ioError, "open \(path): \(systemMessage())")
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
        Console.note(prompt, terminator: "")
        var former = termios()
        guard tcgetattr(STDIN_FILENO, &former) == 0 else { return nil }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
            Console.note("")
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
                    throw CommandFailure(.dataError, "\(name) holds more than \(limit) bytes")
                }
            } else if errno != EINTR {
                throw CommandFailure(.ioError, "read \(name): \(systemMessage())")
            }
        }
    }

    private static func systemMessage() -> String { String(cString: strerror(errno)).lowercased() }
}
