import Foundation
import Synchronization
import Testing

/// The built programs, run as people run them: in a home of their own.
struct TemporaryHome: Sendable {
    let path: String

    init() throws {
        // A program may end before it has read its input. A handler is not inherited, unlike SIG_IGN.
        signal(SIGPIPE) { _ in }
        path = NSTemporaryDirectory() + "kvs-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    struct Outcome: Sendable {
        var status: Int32
        var output: Data
        var errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Where the test bundle is, the programs are too.
    private static func program(_ name: String) -> URL? {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent()
        let candidates = [
            folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent(),
        ]
        return candidates.compactMap { $0?.appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    fileprivate func process(
        _ program: String, _ arguments: [String], _ redirection: Redirection?
    ) throws -> Process {
        let url = try #require(
            Self.program(program), "\(program) has not been built beside the tests")
        let process = Process()
        process.executableURL = redirection == nil ? url : URL(filePath: "/bin/sh")
        process.arguments =
            (redirection.map { ["-c", $0.script, url.path] } ?? []) + arguments
        process.environment = ["HOME": path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
        return process
    }

    /// Runs `kvs` to its end.
    func kvs(_ arguments: String..., input: Data? = nil) async throws -> Outcome {
        try await run("kvs", arguments, input: input)
    }

    /// Runs a program to its end, and kills it where the test is cancelled.
    func run(
        _ program: String, _ arguments: [String], input: Data? = nil,
        redirection: Redirection? = nil
    ) async throws -> Outcome {
        let process = try process(program, arguments, redirection)
        let (inputPipe, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = inputPipe
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        returning: Self.finish(process, input, inputPipe, output, errors))
                }
            }
        } onCancel: {
            process.killIfRunning()
        }
    }

    private static func finish(
        _ process: Process, _ input: Data?, _ inputPipe: Pipe, _ output: Pipe, _ errors: Pipe
    ) -> Outcome {
        let words = Mutex(Data())
        let reading = DispatchGroup()
        DispatchQueue.global().async(group: reading) {
            let data = errors.fileHandleForReading.readDataToEndOfFile()
            words.withLock { $0 = data }
        }
        if let input { try? inputPipe.fileHandleForWriting.write(contentsOf: input) }
        try? inputPipe.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        reading.wait()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: data,
            errors: words.withLock { String(decoding: $0, as: UTF8.self) })
    }
}

/// Standard output or standard error of a program that cannot be written to.
enum Redirection: String, CaseIterable, Sendable {
    case fullOutput = ">/dev/full"
    case closedOutput = ">&-"
    case closedPipe = ">&4 4>&-"
    case fullErrors = "2>/dev/full"
    case closedErrors = "2>&-"
    case fullOutputAndErrors = ">/dev/full 2>/dev/full"
    case everythingClosed = "<&- >&- 2>&-"

    /// For `sh -c`, followed by the program and its arguments.
    fileprivate var script: String {
        // A pipe that is open for writing and has no reader any more.
        let brokenPipe = #"mkfifo "$HOME/p"; exec 3<>"$HOME/p" 4>"$HOME/p" 3<&-; rm "$HOME/p"; "#
        return (self == .closedPipe ? brokenPipe : "") + #"exec "$0" "$@" "# + rawValue
    }
}

extension Process {
    fileprivate func killIfRunning() {
        if isRunning { kill(processIdentifier, SIGKILL) }
    }
}

/// A program that runs on while a test goes on; killed with its last reference.
final class RunningProgram: Sendable {
    private let process: Process
    let output: AsyncStream<String>
    let errors: AsyncStream<String>
    private let ended: AsyncStream<Int32>

    init(
        _ home: TemporaryHome, _ program: String, _ arguments: [String],
        redirection: Redirection? = nil
    ) throws {
        let process = try home.process(program, arguments, redirection)
        let (outputPipe, errorPipe) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = outputPipe
        process.standardError = errorPipe
        let (ended, ending) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            ending.yield(process.terminationStatus)
            ending.finish()
        }
        try process.run()
        self.ended = ended
        output = Self.lines(outputPipe.fileHandleForReading)
        errors = Self.lines(errorPipe.fileHandleForReading)
        self.process = process
    }

    deinit { process.killIfRunning() }

    func interrupt() { process.interrupt() }

    func suspend() { kill(process.processIdentifier, SIGSTOP) }

    func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Waits until it has ended. Where the test is cancelled it is killed, and there is no status.
    func status() async -> Int32? {
        await withTaskCancellationHandler {
            for await status in ended { return status }
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
