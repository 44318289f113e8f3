import Dispatch
import Foundation
import Testing

/// The built program as a process of its own.
final class DaemonProcess: Sendable {
    private let process: Process
    let dataPath: String
    let port: Int
    /// What it said until it accepted connections.
    let beginning: String

    /// Lies beside the test bundle.
    private static func built() throws -> URL {
        let places =
            [URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
            + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        let found = places.map { $0.appending(path: "kvsd") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false))
        }
        return try #require(found, "kvsd has not been built")
    }

    /// Starts a daemon and waits until it accepts connections.
    init(dataPath: String, arguments: [String] = []) async throws {
        self.dataPath = dataPath
        process = Process()
        process.executableURL = try Self.built()
        process.arguments = ["serve", "--data", dataPath, "--listen", "127.0.0.1:0"] + arguments
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let handle = errors.fileHandleForReading
        let (port, output) = await Self.waiting(for: process) { Self.port(announcedOn: handle) }
        self.port = try #require(port, "kvsd output: \(output)")
        beginning = output
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Reads until the daemon says on which port it listens, or ends.
    private static func port(announcedOn handle: FileHandle) -> (port: Int?, output: String) {
        var output = ""
        while true {
            let data = handle.availableData
            if data.isEmpty { return (nil, output) }
            output += String(decoding: data, as: UTF8.self)
            guard let match = output.firstMatch(of: /listening on https?:\/\/127\.0\.0\.1:(\d+),/) else { continue }
            // What it says later is read, so that it never waits for a reader.
            handle.readabilityHandler = { handle in
                if handle.availableData.isEmpty { handle.readabilityHandler = nil }
            }
            return (Int(match.1), output)
        }
    }

    var identifier: Int32 { process.processIdentifier }

    /// Stops the process until it is resumed or killed: it holds its locks and does nothing.
    func suspend() { Foundation.kill(process.processIdentifier, SIGSTOP) }

    func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    func kill() async {
        Foundation.kill(process.processIdentifier, SIGKILL)
        await ended()
    }

    /// Sends the signals one after the other and returns the exit status; nil when the process had
    /// to be killed because it did not end.
    func stop(signals: [Int32] = [SIGTERM]) async -> Int32? {
        for signal in signals { Foundation.kill(process.processIdentifier, signal) }
        let deadline = DispatchWorkItem { [process] in
            Foundation.kill(process.processIdentifier, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: deadline)
        await ended()
        deadline.cancel()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    private func ended() async {
        let process = process
        await Self.waiting(for: process) { process.waitUntilExit() }
    }

    /// Runs a command of the program to its end.
    static func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = try built()
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        return await waiting(for: process) {
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text, complaint)
        }
    }

    /// Does what blocks until the process says or does something, on a thread of its own. A test
    /// that is cancelled kills the process, which ends that.
    private static func waiting<Value: Sendable>(
        for process: Process, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: body()) }
            }
        } onCancel: {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        }
    }

    /// Adds a device; returns its token.
    static func addDevice(_ name: String, dataPath: String, arguments: [String] = []) async throws -> String {
        let added = try await run(["device", "add", name, "--json", "--data", dataPath] + arguments)
        let document = try JSONDecoder().decode([String: String].self, from: Data(added.output.utf8))
        return try #require(document["token"], "\(added)")
    }
}
