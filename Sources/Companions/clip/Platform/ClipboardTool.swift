import Commands
import Essentials

/// A program that reads or sets a clipboard, run until its first process ends, within bounds on its time and output.
///
/// What it leaves running, as `wl-copy` and `xclip` do to own the clipboard, keeps neither a stream nor the process
/// group of this program. Whatever it started is killed when its time is up. Calls block.
struct ClipboardTool {
    enum End: Equatable {
        /// With an exit status, or 128 plus the number of the signal.
        case exited(Int32)
        case outOfTime
        case tooMuchOutput
        /// With the value of `errno`.
        case notStarted(Int32)
    }

    private(set) var end = End.outOfTime
    private(set) var output = Data()
    /// The first line that it wrote to its standard error; not escaped.
    private(set) var complaint = ""

    var isSuccess: Bool { end == .exited(0) }

    /// Of one run, in seconds.
    static let timeLimit = 2.0
    private static let errorByteLimit = 512
    /// How long the end may go unnoticed, in milliseconds; there is no portable event for it.
    private static let tick: Int32 = 1

    /// - Parameters:
    ///   - path: of the program.
    ///   - environment: all of its variables.
    ///   - outputByteLimit: nil if its output is dropped, as it must be for one that stays in the background.
    init(
        _ path: String, _ arguments: [String], environment: [String: String],
        input data: Data? = nil, outputByteLimit: Int? = nil, seconds: Double = timeLimit
    ) {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        var input = data.flatMap { _ in PipeEnds() }
        var output = outputByteLimit.flatMap { _ in PipeEnds() }
        let errors = Self.unlinkedFile()
        defer {
            input?.close()
            output?.close()
            for descriptor in [null, errors] where descriptor >= 0 { close(descriptor) }
        }
        guard null >= 0, (input == nil) == (data == nil),
            (output == nil) == (outputByteLimit == nil),
            let child = ChildProcess(
                path, arguments: arguments, standardInput: input?.reading ?? null,
                output: output?.writing ?? null, errors: errors < 0 ? null : errors,
                firstClosed: STDERR_FILENO + 1, variables: environment, inheritsVariables: false,
                leadsGroup: true)
        else {
            end = .notStarted(errno)
            return
        }
        input?.closeReading()
        output?.closeWriting()
        var rest = data ?? Data()
        if rest.isEmpty { input?.closeWriting() }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        var early: End?
        while early == nil, !child.hasEnded {
            var slots = [
                pollfd(fd: input?.writing ?? -1, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output?.reading ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&slots, 2, Self.tick)
            if slots[0].revents != 0 { input?.write(&rest) }
            if slots[1].revents != 0 { early = read(&output, outputByteLimit) }
            if clock.now >= deadline { early = early ?? .outOfTime }
        }
        if let early {
            child.signalGroup(SIGKILL)
            end = early
            child.wait()
        } else {
            let status = child.wait()
            end = read(&output, outputByteLimit) ?? .exited(status)
        }
        complaint = Self.firstLine(of: errors)
    }

    /// Reads what there is.
    private mutating func read(_ pipe: inout PipeEnds?, _ byteLimit: Int?) -> End? {
        guard let byteLimit, let part = pipe?.read(upTo: byteLimit + 1 - output.count) else {
            return nil
        }
        output += part
        return output.count > byteLimit ? .tooMuchOutput : nil
    }

    /// For errors: a pipe would end a program that writes to it when this one is gone.
    private static func unlinkedFile() -> Int32 {
        var path = Array(("/tmp/clip-" + String(repeating: "X", count: 6)).utf8CString)
        let descriptor = mkstemp(&path)
        if descriptor >= 0 {
            unlink(path)
            Descriptor.closeOnExec([descriptor])
        }
        return descriptor
    }

    private static func firstLine(of file: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: errorByteLimit)
        let count = pread(file, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        return text.split(separator: "\n").first.map { String($0).trimmed() } ?? ""
    }
}

/// A pipe whose end in this program never blocks.
private struct PipeEnds {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        Descriptor.closeOnExec(ends)
    }

    /// Leaves the other end to the program.
    mutating func closeReading() {
        Essentials.close(reading)
        reading = -1
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
    }

    mutating func closeWriting() {
        Essentials.close(writing)
        writing = -1
        if reading >= 0 { _ = fcntl(reading, F_SETFL, O_NONBLOCK) }
    }

    mutating func close() {
        for end in [reading, writing] where end >= 0 { Essentials.close(end) }
    }

    /// Writes what fits, and closes after the last byte or without a reader.
    mutating func write(_ rest: inout Data) {
        let count = rest.prefix(65_536).withUnsafeBytes {
            Essentials.write(writing, $0.baseAddress, $0.count)
        }
        if count > 0 { rest = rest.dropFirst(count) }
        if rest.isEmpty || (count < 0 && errno != EAGAIN && errno != EINTR) { closeWriting() }
    }

    /// At most `byteLimit` bytes of what there is; closes at the end of the output.
    mutating func read(upTo byteLimit: Int) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while data.count < byteLimit, reading >= 0 {
            let count = Essentials.read(reading, &buffer, min(buffer.count, byteLimit - data.count))
            if count > 0 {
                data += buffer.prefix(count)
            } else if count == 0 {
                Essentials.close(reading)
                reading = -1
            } else if errno != EINTR {
                break
            }
        }
        return data
    }
}
