import Dispatch
import Essentials

/// The lines that another program writes to standard input, as they arrive.
enum InputLines {
    /// A longer line is dropped.
    private static let lineLimit = 4_096

    /// Finishes with the input. One consumer; lines beyond what it has room for are dropped.
    static func standardInput() -> AsyncStream<[UInt8]> {
        let (lines, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingOldest(64))
        // Not a dispatch source: on Linux, one of a pipe whose writer is gone may crash the program.
        DispatchQueue(label: "usage-view.input").async {
            var splitter = LineSplitter(limit: lineLimit)
            var buffer = [UInt8](repeating: 0, count: 1_024)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count > 0 {
                    for line in splitter.lines(from: buffer[..<count]) { continuation.yield(line) }
                } else if count == 0 || errno != EINTR {
                    return continuation.finish()
                }
            }
        }
        return lines
    }
}

/// Bytes in pieces as lines.
struct LineSplitter: Sendable {
    let limit: Int
    private var line: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    mutating func lines(from bytes: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if !isTooLong { lines.append(line) }
                line = []
                isTooLong = false
            } else if line.count < limit {
                line.append(byte)
            } else {
                isTooLong = true
            }
        }
        return lines
    }
}
