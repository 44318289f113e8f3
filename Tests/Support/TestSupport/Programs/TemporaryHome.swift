package import Foundation
import Synchronization
import Testing

/// A home directory of its own, in which the built programs are run.
package struct TemporaryHome: Sendable {
    package let path: String
    /// Environment variables of the programs, besides `HOME`, `PATH` and `LANG` or instead of them.
    package var variables: [String: String] = [:]

    package init() throws {
        // A program may end before it has read its input. A handler is not inherited, unlike SIG_IGN.
        signal(SIGPIPE) { _ in }
        path = NSTemporaryDirectory() + "home-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Creates a file, with the directories that its name contains, and returns its path.
    @discardableResult
    package func file(_ name: String, _ text: String) throws -> String {
        let file = "\(path)/\(name)"
        try directory((name as NSString).deletingLastPathComponent)
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    /// Creates a directory and returns its path.
    @discardableResult
    package func directory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        return "\(path)/\(name)"
    }

    package struct Outcome: Sendable {
        package var status: Int32
        package var output: Data
        package var errors: String

        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Runs `kvs` to its end.
    package func kvs(_ arguments: String..., input: Data? = nil) async throws -> Outcome {
        try await run("kvs", arguments, input: input)
    }

    /// Runs a program to its end, and kills it if the test is cancelled.
    package func run(
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
                    continuation.resume(returning: Self.finish(process, input, inputPipe, output, errors))
                }
            }
        } onCancel: {
            process.killIfRunning()
        }
    }

    private static func finish(
        _ process: Process, _ input: Data?, _ inputPipe: Pipe, _ output: Pipe, _ errors: Pipe
    ) -> Outcome {
        let diagnostics = Mutex(Data())
        let reading = DispatchGroup()
        DispatchQueue.global().async(group: reading) {
            let data = errors.fileHandleForReading.readDataToEndOfFile()
            diagnostics.withLock { $0 = data }
        }
        if let input { try? inputPipe.fileHandleForWriting.write(contentsOf: input) }
        try? inputPipe.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        reading.wait()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: data,
            errors: diagnostics.withLock { String(decoding: $0, as: UTF8.self) })
    }

    /// Runs a shell command to its end, as another program would that has been given one.
    package func shell(_ command: String, input: Data? = nil) async throws -> Outcome {
        try await run("/bin/sh", ["-c", command], input: input)
    }

    func process(
        _ program: String, _ arguments: [String], _ redirection: Redirection? = nil
    ) throws -> Process {
        let url = try #require(
            program.hasPrefix("/") ? URL(filePath: program) : Self.program(program),
            "\(program) has not been built beside the tests")
        let process = Process()
        process.executableURL = redirection == nil ? url : URL(filePath: "/bin/sh")
        process.arguments = (redirection.map { ["-c", $0.script, url.path] } ?? []) + arguments
        process.environment = ["HOME": path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(variables) { $1 }
        return process
    }

    /// The programs are built into the directory of the test bundle.
    package static func program(_ name: String) -> URL? {
        let directory = Bundle.main.executableURL?.deletingLastPathComponent()
        let candidates = [
            directory, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent(),
        ]
        return candidates.compactMap { $0?.appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

/// Standard streams that a program cannot use.
package enum Redirection: String, CaseIterable, Sendable {
    case fullOutput = ">/dev/full"
    case closedOutput = ">&-"
    case closedPipe = ">&4 4>&-"
    case fullErrors = "2>/dev/full"
    case closedErrors = "2>&-"
    case fullOutputAndErrors = ">/dev/full 2>/dev/full"
    case everythingClosed = "<&- >&- 2>&-"

    /// For `sh -c`, followed by the program and its arguments.
    fileprivate var script: String {
        // A pipe that is open for writing and no longer has a reader.
        let brokenPipe = #"mkfifo "$HOME/p"; exec 3<>"$HOME/p" 4>"$HOME/p" 3<&-; rm "$HOME/p"; "#
        return (self == .closedPipe ? brokenPipe : "") + #"exec "$0" "$@" "# + rawValue
    }
}

extension Process {
    func killIfRunning() {
        if isRunning { kill(processIdentifier, SIGKILL) }
    }
}
