import Commands
import Foundation
import Synchronization
import Testing

/// A process with its output and errors, which are read for as long as it runs.
///
/// It leads a process group and is killed with that, as what it has started could go on and hold its pipes: so does
/// the program that writes the backtrace of a crash. Foundation's `Process` would take it for running until then.
final class StartedProcess: Sendable {
    private let child: ChildProcess
    private let hasEnded = Mutex(false)
    private let streams: [OutputStream]
    private let (statuses, ended) = AsyncStream<Int32>.makeStream()

    /// - Parameters:
    ///   - variables: all of its environment.
    ///   - input: for its standard input; nil for an empty one.
    ///   - terminal: in place of all three streams.
    ///   - receivers: called with its output and errors, on a thread for each, and with nil at the end of each.
    init(
        _ path: String, _ arguments: [String], variables: [String: String], input: Int32? = nil,
        terminal: PseudoTerminal? = nil, receivers: [@Sendable (Data?) -> Void]
    ) throws {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        let streams = try receivers.map { try OutputStream($0) }
        defer { for stream in streams { stream.read() } }
        child = try #require(
            ChildProcess(
                path, arguments: arguments, standardInput: terminal?.program ?? input ?? null,
                output: terminal?.program ?? streams[0].writing, errors: terminal?.program ?? streams[1].writing,
                firstClosed: STDERR_FILENO + 1, variables: variables, inheritsVariables: false, leadsGroup: true),
            "\(path) cannot be started: \(String(cString: strerror(errno)))")
        self.streams = streams
        Thread.detachNewThread { [self] in wait() }
    }

    private func wait() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(child.identifier), &information, Int32(WEXITED | WNOWAIT)) == -1, errno == EINTR {}
        // From now on its number may be that of another process.
        let status = hasEnded.withLock { hasEnded in
            hasEnded = true
            return child.waitForEnd()
        }
        if status < 0 { abandonStreams() }
        ended.yield(status)
        ended.finish()
    }

    private func abandonStreams() { for stream in streams { stream.abandon() } }

    /// Sends a signal to the process alone; does nothing once it has ended.
    func send(_ signal: Int32) {
        hasEnded.withLock { hasEnded in
            if !hasEnded { kill(child.identifier, signal) }
        }
    }

    /// Kills it with what it has started, unless it has ended, and ends its streams in any case.
    func killGroup() {
        hasEnded.withLock { hasEnded in
            if !hasEnded { child.send(SIGKILL) }
        }
        abandonStreams()
    }

    /// The exit status, or the negative number of the signal that ended it. If the task is cancelled the process is
    /// killed, and there is no status. To be called once.
    func status() async -> Int32? {
        await withTaskCancellationHandler {
            for await status in statuses { return status }
            return nil
        } onCancel: {
            killGroup()
        }
    }
}

/// A stream that a program writes to.
private final class OutputStream: Sendable {
    private let ends: PipeEnds
    private let receive: @Sendable (Data?) -> Void
    private let isAbandoned = Atomic(false)

    init(_ receive: @escaping @Sendable (Data?) -> Void) throws {
        ends = try #require(PipeEnds(), "no pipe: \(String(cString: strerror(errno)))")
        self.receive = receive
    }

    var writing: Int32 { ends.writing }

    /// Ends the stream after what there is, without waiting for those that hold its other end.
    func abandon() { isAbandoned.store(true, ordering: .sequentiallyConsistent) }

    /// To be called once the program has the other end.
    func read() {
        Thread.detachNewThread { [self] in
            var ends = ends
            ends.leaveWriting()
            var slot = pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let isLast = isAbandoned.load(ordering: .sequentiallyConsistent)
                let count = Foundation.read(ends.reading, &buffer, buffer.count)
                if count > 0 {
                    receive(Data(buffer[..<count]))
                } else if count == 0 || isLast || (errno != EAGAIN && errno != EINTR) {
                    ends.close()
                    return receive(nil)
                } else {
                    _ = poll(&slot, 1, 50)
                }
            }
        }
    }
}
