import Essentials

/// Messages of the library on standard error. A message that cannot be written is dropped.
package enum Diagnostics {
    package static func write(_ line: String) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Essentials.write(STDERR_FILENO, $0.baseAddress, $0.count)
            }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }

    /// Ends the program because of a programmer error. Writes the message itself: a release build does not print that
    /// of a failed precondition.
    package static func stop(_ message: String) -> Never {
        write("UbiquitousKeyValueStore: \(message)")
        fatalError(message)
    }
}
