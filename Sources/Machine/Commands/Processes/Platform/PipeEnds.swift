package import Essentials

/// A pipe that a program which is started has only as one of its standard streams.
package struct PipeEnds: Sendable {
    /// Negative once it is closed.
    package private(set) var reading: Int32
    package private(set) var writing: Int32

    /// Nil, with the reason in `errno`, if there are no descriptors left.
    ///
    /// - Parameter isNonblocking: whether reading and writing fail instead of waiting.
    package init?(isNonblocking: Bool = false) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        Descriptor.closeOnExec(ends)
        if isNonblocking { for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) } }
    }

    /// Leaves reading to the program that has got this end; writing never waits from now on.
    package mutating func leaveReading() {
        Self.close(&reading)
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
    }

    /// Leaves writing to the program that has got this end; reading never waits from now on.
    package mutating func leaveWriting() {
        Self.close(&writing)
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    package mutating func close() {
        Self.close(&reading)
        Self.close(&writing)
    }

    private static func close(_ end: inout Int32) {
        if end >= 0 { Essentials.close(end) }
        end = -1
    }

    /// Writes what the pipe takes, and closes it without a reader.
    ///
    /// - Parameter closesAtEnd: whether it is closed after the last byte, too.
    package mutating func write(_ rest: inout Data, closesAtEnd: Bool = true) {
        while writing >= 0, closesAtEnd || !rest.isEmpty {
            let count = rest.withUnsafeBytes { Essentials.write(writing, $0.baseAddress, $0.count) }
            let code = errno
            if count > 0 { rest = rest.dropFirst(count) }
            if (rest.isEmpty && closesAtEnd) || (count < 0 && code != EAGAIN && code != EINTR) { close() }
            if count < 0, code == EAGAIN { return }
        }
    }
}
