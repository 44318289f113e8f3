package import Essentials

/// Reads standard input and files.
package enum InputOutput {
    /// Everything on standard input.
    package static func readInput(byteCount limit: Int) throws(CommandFailure) -> Data {
        try read(STDIN_FILENO, "standard input", byteCount: limit)
    }

    package static func readFile(_ path: String, byteCount limit: Int) throws(CommandFailure) -> Data {
        let descriptor = Essentials.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        defer { Essentials.close(descriptor) }
        return try read(descriptor, path, byteCount: limit)
    }

    /// A line from the terminal, typed without echo; nil at end of input.
    package static func readSecret(prompt: String) -> String? {
        var former = termios()
        guard tcgetattr(STDIN_FILENO, &former) == 0 else { return nil }
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
            Console.note("")
        }
        // What is typed before the echo is off would be shown, and discarded.
        Console.note(prompt, terminator: "")
        return readLine(strippingNewline: true)
    }

    private static func read(_ descriptor: Int32, _ name: String, byteCount limit: Int) throws(CommandFailure) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Essentials.read(descriptor, &buffer, buffer.count)
            if count == 0 { return data }
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
                guard data.count <= limit else {
                    throw CommandFailure(.dataError, "\(name) has more than \(limit) bytes")
                }
            } else if errno != EINTR {
                throw failure("read \(name)")
            }
        }
    }

    private static func failure(_ operation: String) -> CommandFailure {
        CommandFailure(.ioError, "cannot \(operation): \(String(cString: strerror(errno)).lowercased())")
    }
}
