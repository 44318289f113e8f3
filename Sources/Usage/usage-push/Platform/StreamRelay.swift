import Commands
import Essentials

/// Runs a program whose standard output passes through this one, with the other streams of this one.
enum StreamRelay {
    /// Passes on each byte as it comes, and signals; without a reader of this output the program has none either.
    ///
    /// - Parameter passed: called with bytes that have been passed on.
    /// - Returns: as `ChildProcess.waitForEnd`; nil, with the reason in `errno`, if it cannot be started.
    static func run(_ command: [String], passed: (UnsafeRawBufferPointer) -> Void) -> Int32? {
        guard var ends = PipeEnds() else { return nil }
        defer { ends.close() }
        SignalForwarding.prepare()
        let started = ChildProcess(
            command[0], arguments: Array(command.dropFirst()), output: ends.writing, errors: STDERR_FILENO)
        guard let child = started else {
            let code = errno
            SignalForwarding.stop()
            errno = code
            return nil
        }
        SignalForwarding.begin(to: child)
        ends.leaveWriting()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while ends.reading >= 0 {
            var slots = [
                pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            ]
            _ = poll(&slots, nfds_t(slots.count), -1)
            if Int32(slots[1].revents) & (POLLERR | POLLHUP) != 0 { break }
            let count = read(ends.reading, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0, write(buffer[..<count]) else { break }
            buffer.withUnsafeBytes { passed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        ends.close()
        let end = child.waitForEnd()
        SignalForwarding.stop()
        return end
    }

    private static func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        do throws(OutputError) {
            try Console.write(Data(bytes))
            return true
        } catch {
            if !error.isClosedPipe { Console.report(error.description) }
            return false
        }
    }
}
