import Commands
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

    package static func remove(_ homes: TemporaryHome...) { for home in homes { home.remove() } }

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

    /// Runs `kvs` with a command that needs the daemon's answer, however long a busy machine takes for it.
    package func patiently(_ arguments: String...) async throws -> Outcome {
        try await run("kvs", arguments + ["--timeout", "120"])
    }

    /// Runs a program to its end, and kills it if the test is cancelled.
    package func run(
        _ program: String, _ arguments: [String], input: Data? = nil, redirection: Redirection? = nil
    ) async throws -> Outcome {
        let ends = try #require(PipeEnds(), "no pipe: \(String(cString: strerror(errno)))")
        let streams = [CollectedOutput(), CollectedOutput()]
        let process = try start(
            program, arguments, redirection, input: ends.reading, receivers: streams.map { $0.receive })
        // Not waited for: nobody may read it.
        Thread.detachNewThread {
            close(ends.reading)
            let writing = FileHandle(fileDescriptor: ends.writing, closeOnDealloc: true)
            // The program may end before it has read its input.
            if let input { try? writing.write(contentsOf: input) }
        }
        let status = await process.status()
        return Outcome(
            status: abs(status ?? SIGKILL), output: await streams[0].data(),
            errors: String(decoding: await streams[1].data(), as: UTF8.self))
    }

    /// Runs a shell command to its end, as another program would that has been given one.
    package func shell(_ command: String, input: Data? = nil) async throws -> Outcome {
        try await run("/bin/sh", ["-c", command], input: input)
    }

    func start(
        _ program: String, _ arguments: [String], _ redirection: Redirection?, input: Int32? = nil,
        terminal: PseudoTerminal? = nil, receivers: [@Sendable (Data?) -> Void]
    ) throws -> StartedProcess {
        let path = try #require(
            program.hasPrefix("/") ? program : Self.program(program)?.path,
            "\(program) has not been built beside the tests")
        return try StartedProcess(
            redirection == nil ? path : "/bin/sh", (redirection.map { ["-c", $0.script, path] } ?? []) + arguments,
            variables: ["HOME": self.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(variables) { $1 },
            input: input, terminal: terminal, receivers: receivers)
    }

    /// The programs are built into the directory of the test bundle.
    package static func program(_ name: String) -> URL? {
        let directory = Bundle.main.executableURL?.deletingLastPathComponent()
        let candidates = [directory, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
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

/// All that a program writes to a stream.
private final class CollectedOutput: Sendable {
    private let collected = Mutex(Data())
    private let ended = AsyncStream<Never>.makeStream()

    @Sendable func receive(_ data: Data?) {
        guard let data else { return ended.continuation.finish() }
        collected.withLock { $0 += data }
    }

    /// Waits for the end, or until the task is cancelled.
    func data() async -> Data {
        for await _ in ended.stream {}
        return collected.withLock { $0 }
    }
}
