import Dispatch
import Essentials

/// The lines that another program writes to standard input, as they arrive; the last one may have no end. An element is
/// nil for a line with more bytes than the limit.
///
/// Nothing is read before it is asked for, so that a program that is faster has to wait. One iteration at a time.
struct InputLines: AsyncSequence, Sendable {
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(splitter: LineSplitter(limit: limit)) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var splitter: LineSplitter
        private var lines: ArraySlice<[UInt8]?> = []
        private var isAtEnd = false

        fileprivate init(splitter: LineSplitter) { self.splitter = splitter }

        mutating func next() async -> [UInt8]?? {
            while true {
                if let line = lines.popFirst() { return .some(line) }
                if isAtEnd { return nil }
                let bytes = await InputLines.bytes()
                isAtEnd = bytes.isEmpty
                lines = splitter.lines(from: isAtEnd ? [UInt8(ascii: "\n")] : bytes)[...]
                // What has an end ends with an empty line now, which is none.
                if isAtEnd, lines.first == .some([]) { lines = [] }
            }
        }
    }

    // Not a dispatch source: on Linux, one of a pipe whose writer is gone may crash the program.
    private static let queue = DispatchQueue(label: "usage-view.input")

    /// Empty at the end of the input.
    private static func bytes() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            queue.async {
                var buffer = [UInt8](repeating: 0, count: 16_384)
                while true {
                    let count = read(STDIN_FILENO, &buffer, buffer.count)
                    if count >= 0 { return continuation.resume(returning: Array(buffer[..<count])) }
                    switch errno {
                    case EINTR: break
                    case EAGAIN:
                        var slot = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                        _ = poll(&slot, 1, -1)
                    default: return continuation.resume(returning: [])
                    }
                }
            }
        }
    }
}

/// Bytes in pieces as lines.
struct LineSplitter: Sendable {
    let limit: Int
    private var line: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// The lines that end in these bytes, without their ends; nil for one that is longer than the limit.
    mutating func lines(from bytes: some Sequence<UInt8>) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(isTooLong ? nil : line)
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
