// Real programs in tests: processes, pseudo-terminals, private homes. Not here: what a program is
// expected to do.

import Foundation
import Testing

/// A program that runs while a test continues; killed with its last reference.
package final class RunningProgram: Sendable {
    private let process: Process
    /// Lines of standard output and standard error; empty on a terminal.
    package let output: AsyncStream<String>
    package let errors: AsyncStream<String>
    private let statuses: AsyncStream<Int32>

    /// - Parameter terminal: becomes all three standard streams.
    package init(
        _ home: TemporaryHome, _ program: String, _ arguments: [String],
        redirection: Redirection? = nil, terminal: PseudoTerminal? = nil
    ) throws {
        let process = try home.process(program, arguments, redirection)
        let (outputPipe, errorPipe) = (Pipe(), Pipe())
        let handle = terminal.map { FileHandle(fileDescriptor: $0.program) }
        process.standardInput = handle ?? FileHandle.nullDevice
        process.standardOutput = handle ?? outputPipe as Any
        process.standardError = handle ?? errorPipe as Any
        let (statuses, status) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            status.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            status.finish()
        }
        try process.run()
        if terminal != nil {
            try outputPipe.fileHandleForWriting.close()
            try errorPipe.fileHandleForWriting.close()
        }
        self.statuses = statuses
        output = Self.lines(outputPipe.fileHandleForReading)
        errors = Self.lines(errorPipe.fileHandleForReading)
        self.process = process
    }

    deinit { process.killIfRunning() }

    package func interrupt() { process.interrupt() }

    /// Does nothing once the program has ended.
    package func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    package func suspend() { kill(process.processIdentifier, SIGSTOP) }

    package func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Waits for the end and returns the exit status, or the negative number of the signal that ended the program.
    /// If the test is cancelled the program is killed, and there is no status.
    package func status() async -> Int32? {
        await withTaskCancellationHandler {
            for await status in statuses { return status }
            return nil
        } onCancel: {
            process.killIfRunning()
        }
    }

    private static func lines(_ handle: FileHandle) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        DispatchQueue.global().async {
            var rest = Data()
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.finish()
        }
        return stream
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
