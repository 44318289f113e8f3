import Foundation
import HummingbirdTesting
import Testing

/// The built program as a process of its own.
final class DaemonProcess: Sendable {
    private let process: Process
    let dataPath: String
    let port: Int

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
        process.arguments =
            ["serve", "--data", dataPath, "--listen", "127.0.0.1:0"] + arguments
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        var port: Int?
        var line = ""
        let handle = errors.fileHandleForReading
        while port == nil {
            let data = handle.availableData
            if data.isEmpty { break }
            line += String(decoding: data, as: UTF8.self)
            port = line.firstMatch(of: /listening on http:\/\/127\.0\.0\.1:(\d+),/).flatMap {
                Int($0.1)
            }
        }
        // What it says later is read, so that it never waits for a reader.
        handle.readabilityHandler = { handle in
            if handle.availableData.isEmpty { handle.readabilityHandler = nil }
        }
        self.port = try #require(port, "kvsd said: \(line)")
    }

    deinit { if process.isRunning { process.terminate() } }

    func kill() async {
        Foundation.kill(process.processIdentifier, SIGKILL)
        await ended()
    }

    /// Stops it as a service manager does; returns its status.
    func stop() async -> Int32 {
        process.terminate()
        await ended()
        return process.terminationStatus
    }

    private func ended() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    /// Runs a command of the program to its end.
    static func run(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String)
    {
        let process = Process()
        process.executableURL = try built()
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, complaint)
    }

    /// Adds a device; returns its token.
    static func addDevice(_ name: String, dataPath: String) throws -> String {
        let added = try run(["device", "add", name, "--data", dataPath])
        let token = added.output.firstMatch(of: /--token (ubq_[A-Za-z0-9_-]{43})/).map {
            String($0.1)
        }
        return try #require(token)
    }
}
