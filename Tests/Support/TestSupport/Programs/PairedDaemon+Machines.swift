import Foundation
import Testing

extension PairedDaemon {
    /// Machines m0, m1, … of one account, and their daemon.
    ///
    /// - Parameter body: gets the machines' homes; the first is that of the test.
    package static func withMachines(
        _ count: Int, _ body: (_ homes: [TemporaryHome], _ daemon: PairedDaemon) async throws -> Void
    ) async throws {
        let homes = try [TemporaryHome.ofTest] + (1..<count).map { _ in try TemporaryHome() }
        let server = try TemporaryHome()
        defer { for home in homes.dropFirst() + [server] { home.remove() } }
        let daemon = try await PairedDaemon(server)
        for (index, home) in homes.enumerated() {
            _ = try await home.output("kvs", ["join", "--name", "m\(index)", daemon.pair()])
        }
        try await body(homes, daemon)
        await daemon.stop()
    }
}

extension TemporaryHome {
    /// Runs a program, which must succeed, to its end, and returns what it printed.
    package func output(_ program: String, _ arguments: [String], input: String? = nil) async throws -> String {
        let outcome = try await run(program, arguments, input: input.map { Data($0.utf8) })
        try #require(outcome.status == 0, "\(program) \(arguments): \(outcome.errors)")
        return outcome.text
    }
}
