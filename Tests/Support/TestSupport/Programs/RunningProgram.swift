// Real programs in tests: processes, pseudo-terminals, private homes. Not here: what a program is
// expected to do.

import Foundation
import Synchronization
import Testing

/// A program that runs while a test continues; killed with its last reference.
package final class RunningProgram: Sendable {
    private let process: StartedProcess
    /// Lines of standard output and standard error; empty on a terminal.
    package let output: AsyncStream<String>
    package let errors: AsyncStream<String>

    /// - Parameters:
    ///   - input: for its standard input; nil for an empty one.
    ///   - terminal: becomes all three standard streams.
    package init(
        _ home: TemporaryHome, _ program: String, _ arguments: [String],
        redirection: Redirection? = nil, input: Int32? = nil, terminal: PseudoTerminal? = nil
    ) throws {
        let (output, errors) = (Self.lines(), Self.lines())
        process = try home.start(
            program, arguments, redirection, input: input, terminal: terminal,
            receivers: [output.receive, errors.receive])
        self.output = output.stream
        self.errors = errors.stream
    }

    deinit { process.killGroup() }

    package func interrupt() { process.send(SIGINT) }

    /// Does nothing once the program has ended.
    package func send(_ signal: Int32) { process.send(signal) }

    package func suspend() { process.send(SIGSTOP) }

    package func resume() { process.send(SIGCONT) }

    /// Waits for the end and returns the exit status, or the negative number of the signal that ended the program.
    /// If the test is cancelled the program is killed, and there is no status.
    package func status() async -> Int32? { await process.status() }

    /// A stream of lines, and what turns bytes into them.
    private static func lines() -> (stream: AsyncStream<String>, receive: @Sendable (Data?) -> Void) {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        let rest = Mutex(Data())
        return (
            stream,
            { data in
                guard let data else { return continuation.finish() }
                rest.withLock { rest in
                    rest.append(data)
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
            }
        )
    }
}

extension AsyncStream<String> {
    /// The number after a text in the first line that has it.
    package func port(after text: String) async throws -> Int {
        for await line in self {
            guard let range = line.range(of: text) else { continue }
            return try #require(Int(line[range.upperBound...].prefix { $0.isNumber }), "\(line)")
        }
        return try #require(nil, "the program ended without a line with '\(text)'")
    }
}
