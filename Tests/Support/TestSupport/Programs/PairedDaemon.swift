import Foundation
import Testing

/// A daemon with TLS on loopback, in a home directory of its own.
package final class PairedDaemon: Sendable {
    package let home: TemporaryHome
    package let port: Int
    private let program: RunningProgram
    private let beginning: [String]
    /// Reads on, so that the daemon never waits for a reader; returns the lines.
    private let reading: Task<[String], Never>

    /// - Parameter port: 0 for any free port.
    package init(
        _ home: TemporaryHome, host: String = "127.0.0.1", port: Int = 0, arguments: [String] = ["--tls"]
    ) async throws {
        self.home = home
        let program = try RunningProgram(
            home, "kvsd", ["serve", "--listen", "\(host):\(port)", "--log-level", "debug"] + arguments)
        var log = program.errors.makeAsyncIterator()
        var first: [String] = []
        var found: Int?
        while found == nil, let line = await log.next() {
            first.append(line)
            found = line.firstMatch(of: /listening on https?:\/\/[0-9.]+:(\d+),/).flatMap { Int($0.1) }
        }
        self.port = try #require(found, "\(first)")
        self.program = program
        beginning = first
        reading = Task { [log] in
            var log = log
            var lines: [String] = []
            while let line = await log.next() { lines.append(line) }
            return lines
        }
    }

    /// The line of `kvsd pair`.
    package func pair(_ arguments: String...) async throws -> String {
        let outcome = try await home.run("kvsd", ["pair"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.text.trimmingCharacters(in: .newlines)
    }

    /// Stops the daemon and returns all that it logged.
    @discardableResult
    package func stop() async -> String {
        program.interrupt()
        _ = await program.status()
        return (beginning + (await reading.value)).joined(separator: "\n")
    }

    /// A file of the daemon's data directory.
    package func path(_ name: String) -> String { home.path + "/.local/share/ubiquity/kvsd/" + name }

    package func content(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}
