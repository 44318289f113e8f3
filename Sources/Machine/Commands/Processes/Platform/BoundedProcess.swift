package import Essentials

/// A program that was run to its end within bounds on its time and output.
///
/// The program ends with its first process: output that what it leaves running holds open is not waited for. All of its
/// process group is killed at the end of its time, and when it prints too much.
package struct BoundedProcess: Sendable {
    package struct Limits: Sendable, Equatable {
        /// Nil without a limit.
        package var seconds: Double?
        /// Nil if its output is dropped.
        package var outputByteCount: Int?
        /// What follows is dropped.
        package var errorByteCount: Int

        package init(seconds: Double? = 10, outputByteCount: Int? = 1_048_576, errorByteCount: Int = 4_096) {
            self.seconds = seconds
            self.outputByteCount = outputByteCount
            self.errorByteCount = errorByteCount
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

    /// What is done with the process group of the program.
    package enum Group: Sendable {
        /// It is its own. What is left of it when the program has ended is killed; at the end of its time it has a
        /// second after SIGTERM.
        case killed
        /// It is its own, and what is left of it goes on, as a program that owns the clipboard: its errors go to a file
        /// without a name, since a pipe would end one that writes to it later. At the end of its time it is killed.
        case goesOn
        /// It is that of this program: the program may ask on the terminal, whose signals reach both.
        case shared
    }

    package private(set) var end: End
    package private(set) var output = Data()
    package private(set) var errors = Data()

    package var isSuccess: Bool { end == .exited(0) }

    /// Runs the program. Blocks until it has ended, at most a little longer than its time.
    ///
    /// - Parameters:
    ///   - path: without a slash, of the first program of this name in a directory of this program's `PATH`.
    ///   - variables: all of its environment.
    ///   - isCancelled: asked often; the program is killed when it returns true.
    ///   - isAnswered: for a program that ends with its input, but answers later: the input stays open until this
    ///     returns true of the output so far. The program then has two seconds to end.
    package init(
        _ path: String, arguments: [String], input data: Data = Data(), variables: [String: String],
        limits: Limits, group: Group = .killed, isCancelled: () -> Bool = { false },
        isAnswered: ((Data) -> Bool)? = nil
    ) {
        var rest = data
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let file = group == .goesOn ? Self.unnamedFile() : -1
        var input = rest.isEmpty ? nil : PipeEnds()
        var output = limits.outputByteCount.flatMap { Capture(byteLimit: $0) }
        var errors = group == .goesOn ? nil : Capture(byteLimit: limits.errorByteCount)
        defer {
            input?.close()
            output?.close()
            errors?.close()
            for descriptor in [null, file] where descriptor >= 0 { close(descriptor) }
        }
        guard null >= 0, (input == nil) == rest.isEmpty, (output == nil) == (limits.outputByteCount == nil),
            (errors == nil) == (group == .goesOn),
            let child = ChildProcess(
                path, arguments: arguments, standardInput: input?.reading ?? null, output: output?.ends.writing ?? null,
                errors: errors?.ends.writing ?? (file >= 0 ? file : null), firstClosed: STDERR_FILENO + 1,
                variables: variables, inheritsVariables: false, leadsGroup: group != .shared)
        else {
            end = .notStarted(errno)
            return
        }
        input?.leaveReading()
        output?.ends.leaveWriting()
        errors?.ends.leaveWriting()
        let clock = ContinuousClock()
        let start = clock.now
        var deadline = limits.seconds.map { start + .seconds($0) }
        var signals = group == .goesOn ? [SIGKILL] : [SIGKILL, SIGTERM]
        var early: End?
        var isUnstoppable = false
        var isWaiting = isAnswered != nil
        var seenByteCount = 0
        while !child.hasEnded {
            Self.wait(after: clock.now - start, rest.isEmpty ? nil : input, output, errors)
            input?.write(&rest, closesAtEnd: !isWaiting)
            output?.read()
            errors?.read()
            if isWaiting, let data = output?.data, data.count > seenByteCount {
                seenByteCount = data.count
                isWaiting = isAnswered?(data) == false
                let end = clock.now + .seconds(2)
                if !isWaiting { deadline = min(deadline ?? end, end) }
            }
            if early == nil {
                early = isCancelled() ? .cancelled : output?.isExceeded == true ? .tooMuchOutput : nil
                if early != nil { deadline = clock.now }
                if early == .cancelled { signals = [SIGKILL] }
            }
            guard let end = deadline, clock.now >= end else { continue }
            early = early ?? .outOfTime
            guard let signal = signals.popLast() else {
                isUnstoppable = true
                break
            }
            child.send(signal)
            deadline = clock.now + .seconds(1)
        }
        if group == .killed { child.send(SIGKILL) }
        output?.read()
        errors?.read()
        let status = isUnstoppable ? 0 : child.wait()
        end = early ?? (output?.isExceeded == true ? .tooMuchOutput : .exited(status))
        self.output = output?.data ?? Data()
        self.errors = errors?.data ?? Self.content(of: file, limits.errorByteCount)
    }

    /// Waits for what can be written or read, a millisecond in a program that has just started, and up to ten later:
    /// there is no portable event for the end of a process beside those of descriptors.
    private static func wait(after elapsed: Duration, _ input: PipeEnds?, _ captures: Capture?...) {
        var slots = captures.map {
            pollfd(fd: $0?.isOver == false ? $0?.ends.reading ?? -1 : -1, events: Int16(POLLIN), revents: 0)
        }
        slots.append(pollfd(fd: input?.writing ?? -1, events: Int16(POLLOUT), revents: 0))
        let milliseconds = min(1 + elapsed / .milliseconds(100), 10)
        _ = poll(&slots, nfds_t(slots.count), Int32(milliseconds))
    }

    private static func unnamedFile() -> Int32 {
        var path = Array(("/tmp/errors-" + String(repeating: "X", count: 6)).utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { return -1 }
        unlink(path)
        Descriptor.closeOnExec([descriptor])
        return descriptor
    }

    private static func content(of file: Int32, _ byteLimit: Int) -> Data {
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        let count = pread(file, &bytes, bytes.count, 0)
        return Data(bytes.prefix(max(count, 0)))
    }
}

/// One stream of a program, read from a pipe without waiting.
private struct Capture {
    var ends: PipeEnds
    private(set) var data = Data()
    /// Whether there was more than the limit; what follows it is dropped.
    private(set) var isExceeded = false
    private let byteLimit: Int

    /// Reads in a row: a program that writes faster than this one reads must not keep it.
    private static let readLimit = 32

    init?(byteLimit: Int) {
        guard let ends = PipeEnds() else { return nil }
        self.ends = ends
        self.byteLimit = byteLimit
    }

    /// Whether nothing more is waited for.
    var isOver: Bool { ends.reading < 0 || isExceeded }

    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<Self.readLimit where ends.reading >= 0 {
            let count = Essentials.read(ends.reading, &buffer, buffer.count)
            if count > 0 {
                let room = byteLimit - data.count
                data.append(contentsOf: buffer.prefix(min(count, room)))
                if count > room { isExceeded = true }
            } else if count == 0 {
                ends.close()
            } else if errno != EINTR {
                return
            }
        }
    }

    mutating func close() { ends.close() }
}
