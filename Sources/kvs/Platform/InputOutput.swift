import CommandSupport
import Foundation

/// Reads standard input, and reads and writes files.
enum InputOutput {
    /// Everything on standard input.
    static func readInput(byteCount limit: Int) throws(CommandFailure) -> Data {
        try read(STDIN_FILENO, "standard input", byteCount: limit)
    }

    static func readFile(_ path: String, byteCount limit: Int) throws(CommandFailure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.ioError, "open \(path)") }
        defer { close(descriptor) }
        return try read(descriptor, path, byteCount: limit)
    }

    /// Replaces the file atomically. Only its owner can read it, because values may be private.
    static func writeFile(_ data: Data, to path: String) throws(CommandFailure) {
        let temporary = "\(path).\(UInt32.random(in: 0...UInt32.max)).new"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(temporary, flags, 0o600)
        guard descriptor >= 0 else { throw failure(.cannotCreate, "create \(temporary)") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
        } catch {
            unlink(temporary)
            throw CommandFailure(
                .cannotCreate, "cannot write \(path): \(error.localizedDescription)")
        }
        guard rename(temporary, path) == 0 else {
            let failure = failure(.cannotCreate, "replace \(path)")
            unlink(temporary)
            throw failure
        }
    }

    /// A line from the terminal, typed without echo; nil at end of input.
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
                    throw CommandFailure(.dataError, "\(name) has more than \(limit) bytes")
                }
            } else if errno != EINTR {
                throw failure(.ioError, "read \(name)")
            }
        }
    }

    private static func failure(_ status: ExitStatus, _ operation: String) -> CommandFailure {
        CommandFailure(
            status, "cannot \(operation): \(String(cString: strerror(errno)).lowercased())")
    }
}
