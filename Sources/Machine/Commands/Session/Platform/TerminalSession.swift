import Dispatch
import Essentials
import TerminalText

/// The terminal in raw mode on its alternate screen, from `init` to `close`.
///
/// It is restored by `close`, by the process exiting, while it is suspended, and by every signal that ends the process,
/// crashes included; the signal then has its usual effect. At most one session per process is open.
///
/// Unchecked: after `init` the sources are only cancelled, which is safe from any thread; the consumer of the events
/// suspends.
package final class TerminalSession: @unchecked Sendable {
    package enum Event: Sendable, Equatable {
        case bytes([UInt8])
        case resized
        /// Another process asks to suspend this one: call `suspend`.
        case suspendRequested
        /// The process was stopped by something else than `suspend` and goes on: call `resume`.
        case continued
    }

    /// Input and signals, in order; finishes when the terminal is gone. One consumer.
    package let events: AsyncStream<Event>
    private let input: Int32
    private let output: Int32
    /// Whether `output` was opened here.
    private let ownsOutput: Bool
    private let usesMouse: Bool
    private let advice: String
    /// Used by the consumer of the events alone.
    private var handledContinuations = JobSignals.continuationCount
    private let keys: any DispatchSourceRead
    private let signals: JobSignals?

    /// Whether the terminal of the environment has a cursor to move. One that has not shows control sequences as text.
    package static func isPossible(_ environment: [String: String]) -> Bool { environment["TERM"] != "dumb" }

    /// - Parameters:
    ///   - usesMouse: whether clicks are events instead of selecting text in the terminal.
    ///   - advice: for the message of an error: what to do without a terminal.
    package init(
        input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, usesMouse: Bool = false, advice: String
    ) throws(CommandFailure) {
        guard Self.isPossible(ProcessInfo.processInfo.environment) else {
            throw CommandFailure(.usage, "this terminal (TERM=dumb) has no screen; \(advice)")
        }
        // Without blocking, and without changing that for the programs that share the descriptor.
        let own = ttyname(output).map { open($0, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) } ?? -1
        ownsOutput = own >= 0
        self.output = ownsOutput ? own : output
        do throws(CommandFailure) {
            try TerminalRestoration.arm(input: input, output: self.output, advice: advice)
        } catch {
            if ownsOutput { Essentials.close(own) }
            throw error
        }
        self.input = input
        self.usesMouse = usesMouse
        self.advice = advice
        // Unhandled input beyond this is dropped.
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(256))
        self.events = events
        let queue = DispatchQueue(label: "terminal")

        // A descriptor of its own: if the caller closes `input` before Dispatch has let go of it, Dispatch does not
        // wait for the next file that has the same number.
        let ownInput = fcntl(input, F_DUPFD_CLOEXEC, 0)
        let keyInput = ownInput >= 0 ? ownInput : input
        let keys = DispatchSource.makeReadSource(fileDescriptor: keyInput, queue: queue)
        keys.setCancelHandler { if ownInput >= 0 { Essentials.close(ownInput) } }
        keys.setEventHandler { [keys] in
            var buffer = [UInt8](repeating: 0, count: 1_024)
            let count = read(keyInput, &buffer, buffer.count)
            if count > 0 {
                continuation.yield(.bytes(Array(buffer[..<count])))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                // What is typed in the meantime is for the shell.
                if count < 0, TerminalRestoration.isInBackground(input) { return }
                keys.cancel()
                continuation.finish()
            }
        }
        self.keys = keys
        signals = JobSignals(queue: queue) { continuation.yield($0) }
        keys.activate()
        enter()
    }

    deinit {
        close()
        if ownsOutput { Essentials.close(output) }
    }

    private func enter() {
        write(ANSI.enterScreen + (usesMouse ? ANSI.mouseOn : "") + ANSI.querySynchronizedUpdates + ANSI.clearScreen)
    }

    /// The current size, or a usual one if the terminal does not report it.
    package var size: ScreenSize {
        let size = Descriptor.terminalSize(of: output) ?? (columns: 80, rows: 24)
        return ScreenSize(columns: size.columns, rows: size.rows)
    }

    /// Gives up if the terminal is gone or accepts nothing for a second.
    ///
    /// - Returns: whether everything was written.
    @discardableResult
    package func write(_ text: String) -> Bool {
        if text.isEmpty { return true }
        do throws(OutputError) {
            try Descriptor.write(Data(text.utf8), to: output, timeout: .seconds(1))
            return true
        } catch {
            return false
        }
    }

    package enum Takeover: Sendable {
        /// The terminal was this program's all the time.
        case unchanged
        /// It is so again; what it shows is unknown.
        case taken
        /// It belongs to others, and nobody can give it back.
        case lost
    }

    /// Restores the terminal and stops the process, with the others of its job; returns when it has been continued in
    /// the foreground.
    package func suspend() -> Takeover {
        TerminalRestoration.restore()
        JobSignals.stop(SIGTSTP)
        return takeOver()
    }

    /// Takes the terminal over again after the process was stopped by something else than `suspend`.
    package func resume() -> Takeover { JobSignals.continuationCount == handledContinuations ? .unchanged : takeOver() }

    private func takeOver() -> Takeover {
        while TerminalRestoration.isInBackground(input) {
            // As the system stops a program that changes the terminal from there.
            guard JobSignals.stop(SIGTTOU) else { return .lost }
        }
        handledContinuations = JobSignals.continuationCount
        // Settings that the user has changed meanwhile are those to restore.
        // The former settings are restored then.
        if (try? TerminalRestoration.arm(input: input, output: output, advice: advice)) == nil {
            TerminalRestoration.enterRawMode()
        }
        enter()
        return .taken
    }

    /// Restores the terminal. May be called more than once.
    package func close() {
        keys.cancel()
        signals?.cancel()
        TerminalRestoration.restore()
    }

    /// A session on standard input and output, or, if either is something else, on the terminal that controls the
    /// process, as for a program whose output is read by another. The descriptor of that is open until the process
    /// ends.
    ///
    /// - Parameter advice: for the message of an error: what to do without a terminal.
    package static func controlling(advice: String) throws(CommandFailure) -> TerminalSession {
        var (input, output) = (STDIN_FILENO, STDOUT_FILENO)
        if !Console.isInputTerminal || !Console.isOutputTerminal {
            let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
            if descriptor >= 0 { (input, output) = (descriptor, descriptor) }
        }
        return try TerminalSession(input: input, output: output, advice: advice)
    }
}
