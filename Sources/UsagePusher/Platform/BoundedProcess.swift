import Commands
package import Foundation

/// A program that was run to its end within bounds on its time, memory and output, in a process group of its own.
///
/// The program ends with its first process: what that leaves running is killed, and so is everything at the end of the
/// time. Only a process that leaves the group escapes; its output is not waited for.
package struct BoundedProcess: Sendable {
    package struct Limits: Sendable, Equatable {
        package var seconds: Double
        /// From SIGTERM to SIGKILL.
        var graceSeconds = 1.0
        package var outputByteCount: Int
        /// What follows is read and dropped.
        var errorByteCount = 4_096
        /// For each process; private memory that it may write, not address space.
        var memoryByteCount: Int
        var openFileCount = 256

        package init(seconds: Double = 10, outputByteCount: Int = 1_048_576, memoryByteCount: Int = 1_073_741_824) {
            self.seconds = seconds
            self.outputByteCount = outputByteCount
            self.memoryByteCount = memoryByteCount
        }
    }

    package enum End: Sendable, Equatable {
        /// With an exit status, or 128 plus the number of the signal.
        case exited(Int32)
        case outOfTime
        case tooMuchOutput
        case cancelled
        /// With the value of `errno`.
        case notStarted(Int32)
    }

    package private(set) var end: End
    package private(set) var output = Data()
    package private(set) var errors = Data()

    /// How long a process that has ended may go unnoticed; there is no portable event for it beside those of
    /// descriptors.
    private static let tick: Int32 = 10

    /// Sets the limits and becomes the program. If this program is killed meanwhile, the process in the background ends
    /// the group; it is not a child of the program, which might wait for all of its own.
    private static let script = """
        {
        ulimit -c 0; ulimit -t "$1"; ulimit -n "$2"; ulimit -d "$3"
        ( (sleep "$4"; kill -9 -$$) <&- >&- & )
        } 2>/dev/null
        cd /
        shift 4
        exec "$0" "$@"
        """

    /// Bytes that a program may get as its input: what systems keep in a pipe that nobody reads yet.
    package static let inputByteLimit = 65_536

    /// Runs the program with no environment but `variables`. Blocks until it has ended, at most a grace period longer
    /// than `limits.seconds`.
    ///
    /// - Parameters:
    ///   - path: without a slash, of the first program of this name in a directory of the variable `PATH`.
    ///   - input: cut after `inputByteLimit`.
    ///   - isCancelled: asked often; the program is killed when it returns true.
    package init(
        _ path: String, arguments: [String] = [], input data: Data = Data(), variables: [String: String],
        limits: Limits = Limits(), isCancelled: () -> Bool = { false }
    ) {
        let input = Self.input(data)
        defer { close(input) }
        var output = Capture(byteLimit: limits.outputByteCount)
        var errors = Capture(byteLimit: limits.errorByteCount)
        defer {
            output.close()
            errors.close()
        }
        let seconds = Int(limits.seconds.rounded(.up))
        let numbers = [
            seconds, limits.openFileCount, limits.memoryByteCount / 1_024, seconds + 5,
        ]
        guard input >= 0, output.isOpen, errors.isOpen,
            let child = ChildProcess(
                "/bin/sh", arguments: ["-c", Self.script, path] + numbers.map(String.init) + arguments,
                standardInput: input, output: output.writing, errors: errors.writing, firstClosed: STDERR_FILENO + 1,
                variables: variables, inheritsVariables: false, leadsGroup: true)
        else {
            end = .notStarted(errno)
            return
        }
        output.closeWriting()
        errors.closeWriting()
        var early: End?
        var signals = [SIGKILL, SIGTERM]
        let clock = ContinuousClock()
        var deadline = clock.now + .seconds(limits.seconds)
        var isUnstoppable = false
        while !child.hasEnded {
            Self.wait(for: [output, errors])
            output.read()
            errors.read()
            if early == nil {
                early = isCancelled() ? .cancelled : output.isExceeded ? .tooMuchOutput : nil
                if early != nil { deadline = clock.now }
                if early == .cancelled { signals = [SIGKILL] }
            }
            guard clock.now >= deadline else { continue }
            early = early ?? .outOfTime
            guard let signal = signals.popLast() else {
                isUnstoppable = true
                break
            }
            child.signalGroup(signal)
            deadline = clock.now + .seconds(limits.graceSeconds)
        }
        child.signalGroup(SIGKILL)
        output.read()
        errors.read()
        let status = isUnstoppable ? 0 : child.wait()
        end = early ?? (output.isExceeded ? .tooMuchOutput : .exited(status))
        self.output = output.data
        self.errors = errors.data
    }

    /// A descriptor from which the bytes can be read, negative if there is none.
    private static func input(_ data: Data) -> Int32 {
        guard !data.isEmpty else { return open("/dev/null", O_RDONLY | O_CLOEXEC) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return -1 }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        _ = data.prefix(inputByteLimit).withUnsafeBytes {
            Foundation.write(ends[1], $0.baseAddress, $0.count)
        }
        close(ends[1])
        return ends[0]
    }

    private static func wait(for captures: [Capture]) {
        var slots = captures.map {
            pollfd(fd: $0.isOpen && !$0.isExceeded ? $0.reading : -1, events: Int16(POLLIN), revents: 0)
        }
        _ = poll(&slots, nfds_t(slots.count), tick)
    }
}

/// One stream of a program, read from a pipe without waiting.
private struct Capture {
    let reading: Int32
    private(set) var writing: Int32
    private(set) var isOpen: Bool
    private(set) var data = Data()
    /// Whether there was more than the limit; what follows it is dropped.
    private(set) var isExceeded = false
    private let byteLimit: Int

    /// Reads in a row: a program that writes faster than this one reads must not keep it.
    private static let readLimit = 32

    init(byteLimit: Int) {
        var ends: [Int32] = [-1, -1]
        isOpen = pipe(&ends) == 0
        (reading, writing) = (ends[0], ends[1])
        self.byteLimit = byteLimit
        guard isOpen else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<Self.readLimit where isOpen {
            let count = Foundation.read(reading, &buffer, buffer.count)
            if count > 0 {
                let room = byteLimit - data.count
                data.append(contentsOf: buffer.prefix(min(count, room)))
                if count > room { isExceeded = true }
            } else if count == 0 {
                isOpen = false
            } else if errno != EINTR {
                return
            }
        }
    }

    mutating func closeWriting() {
        Foundation.close(writing)
        writing = -1
    }

    mutating func close() {
        for end in [reading, writing] where end >= 0 { Foundation.close(end) }
    }
}
